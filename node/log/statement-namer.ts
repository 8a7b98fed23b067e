import type { Logger } from 'pino';
import type { NamingTerms } from '../anchoring/anchoring.ts';
import { hashText } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { mayRevoke } from '../../protocol/log/in-force.ts';
import type { NamedStatement } from '../../protocol/log/naming.ts';
import { revocationStatement } from '../../protocol/log/revocation.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import type { RosterVotes } from '../federation/roster-votes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationLog } from './federation-log.ts';

/** Undecided revocations of one other node that this member names at once. */
const MAX_REVOCATIONS = 8;
/** How often it is looked whether a name is missing. In milliseconds. */
const LOOK_MS = 5_000;
/** What decided nothing is named again this often while it matters. In milliseconds. */
const NAME_ROSTER_AGAIN_MS = 60_000;
const NAME_REVOCATION_AGAIN_MS = 10 * 60_000;

export interface StatementNamerOptions {
  readonly self: NodeId;
  readonly keys: FederationKeys;
  readonly votes: Pick<RosterVotes, 'next'>;
  readonly federationLog: Pick<FederationLog, 'state' | 'timeOf'>;
  /** Has a message that names the statement sent to the ledger, unless its name is under way or counts still. */
  readonly ensure: (statement: NamedStatement, terms: NamingTerms) => Promise<void>;
  readonly log: Logger;
  readonly lookMs?: number;
}

/**
 * Names on the ledger what this member wants in force: of the next rosters the one that its operator signed last, and every
 * revocation that it holds (TRUST §2). Names fall when a roster comes into force: what still matters is named again at once.
 * What decided nothing otherwise is named again after a while.
 */
export class StatementNamer implements AsyncDisposable {
  readonly #options: StatementNamerOptions;
  readonly #stopListening: () => void;
  #naming: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #started = false;

  constructor(options: StatementNamerOptions) {
    this.#options = options;
    this.#stopListening = options.keys.onRevocation(() => this.name());
  }

  start(): void {
    this.#started = true;
    this.#timer = setInterval(() => this.name(), this.#options.lookMs ?? LOOK_MS);
    this.name();
  }

  /** Looks again: something was signed or learned, or the log has grown. */
  name(): void {
    if (!this.#started) return;
    this.#naming = this.#naming.then(async () => {
      try {
        if (this.#started) await this.#nameAll();
      } catch (error) {
        this.#options.log.error({ err: error }, 'what is to come into force could not be named');
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#started = false;
    clearInterval(this.#timer);
    this.#stopListening();
    await this.#naming;
  }

  async #nameAll(): Promise<void> {
    const { self, federationLog, ensure } = this.#options;
    const { state } = federationLog;
    if (state.members[self] === undefined) return;
    await this.#nameRoster(state);
    const revocations = this.#revocations(state);
    if (revocations.length === 0) return;
    const since = await this.#lastChange(state);
    for (const text of revocations) await ensure({ type: 'revocation', text }, { since, everyMs: NAME_REVOCATION_AGAIN_MS });
  }

  async #nameRoster(state: DecisionState): Promise<void> {
    const { self, votes, ensure } = this.#options;
    const vote = await votes.next();
    if (vote === undefined) return;
    const text = vote.signed.statement;
    if (state.open[self]?.roster === hashText(nativeSuite, text)) return;
    await ensure({ type: 'roster', text }, { since: vote.at, everyMs: NAME_ROSTER_AGAIN_MS });
  }

  #revocations(state: DecisionState): readonly string[] {
    const { self, keys } = this.#options;
    const counts = new Map<NodeId, number>();
    const named = state.open[self]?.revocations ?? [];
    return keys.statements().revocations.flatMap(({ statement: text }): string[] => {
      const { node, keyId } = revocationStatement.parse(text);
      const hash = hashText(nativeSuite, text);
      if (!mayRevoke(state, { node, keyId, statement: hash })) return [];
      if (named.some(({ statement }) => statement === hash)) return [];
      const count = counts.get(node) ?? 0;
      counts.set(node, count + 1);
      return node === self || count < MAX_REVOCATIONS ? [text] : [];
    });
  }

  /** When the roster in force was decided, with which all open names fell; null for the genesis. */
  async #lastChange({ rosters }: DecisionState): Promise<Timestamp | null> {
    const index = rosters.at(-1)?.index ?? null;
    return index === null ? null : this.#options.federationLog.timeOf(index);
  }
}
