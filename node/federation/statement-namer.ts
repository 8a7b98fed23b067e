import type { Logger } from 'pino';
import type { NamingTerms } from '../anchoring/anchoring.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { mayRevoke } from '../../protocol/log/in-force.ts';
import type { NamedStatement } from '../../protocol/log/naming.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import type { RosterVotes } from './roster-votes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationLog } from '../log/federation-log.ts';
import { revocationsToName, type RevocationToName } from '../log/revocations-to-name.ts';

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
  /** Keys by which decided batches of a node are signed, as far as they are derived here, each with its last batch. */
  readonly sealingKeys: (node: NodeId) => Promise<ReadonlyMap<string, number>>;
  /** Keys by which the newest checkpoints of a node are signed. */
  readonly witnessingKeys: (node: NodeId) => readonly Sha256Hash[];
  /** Has a message that names the statement sent to the ledger, unless its name is under way or counts still. */
  readonly ensure: (statement: NamedStatement, terms: NamingTerms) => Promise<void>;
  readonly log: Logger;
  readonly lookMs?: number;
}

/**
 * Names on the ledger what this member wants in force: of the next rosters the one that its operator signed last, and
 * the revocations that it holds, as far as they say anything (protocol §2). Names fall when a roster comes into force:
 * what still matters is named again at once. What decided nothing otherwise is named again after a while.
 */
export class StatementNamer implements AsyncDisposable {
  readonly #options: StatementNamerOptions;
  readonly #stopListening: () => void;
  #naming: Promise<void> = Promise.resolve();
  #task: PeriodicTask<void> | undefined;
  #started = false;

  constructor(options: StatementNamerOptions) {
    this.#options = options;
    this.#stopListening = options.keys.onRevocation(() => this.name());
  }

  start(): void {
    this.#started = true;
    this.#task = new PeriodicTask(this.#options.lookMs ?? LOOK_MS, async () => this.name());
    this.#task.start();
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
    this.#stopListening();
    await this.#task?.[Symbol.asyncDispose]();
    await this.#naming;
  }

  async #nameAll(): Promise<void> {
    const { self, federationLog, ensure } = this.#options;
    const { state } = federationLog;
    if (state.members[self] === undefined) return;
    await this.#nameRoster(state);
    const revocations = await this.#revocations(state);
    if (revocations.length === 0) return;
    const since = await this.#lastChange(state);
    for (const { known, leaves } of revocations) {
      const statement: NamedStatement = { type: 'revocation', text: known.signed.statement };
      await ensure(statement, { since, everyMs: NAME_REVOCATION_AGAIN_MS, leaves });
    }
  }

  async #nameRoster(state: DecisionState): Promise<void> {
    const { self, votes, ensure } = this.#options;
    const vote = await votes.next();
    if (vote === undefined) return;
    const text = vote.signed.statement;
    if (state.open[self]?.roster === hashText(nativeSuite, text)) return;
    await ensure({ type: 'roster', text }, { since: vote.at, everyMs: NAME_ROSTER_AGAIN_MS });
  }

  async #revocations(state: DecisionState): Promise<readonly RevocationToName[]> {
    const { self, keys, sealingKeys, witnessingKeys } = this.#options;
    const toName: RevocationToName[] = [];
    for (const node of keys.rosters.nodes) {
      const revocations = keys.directory.revocationsOf(node);
      if (
        revocations.every(({ revocation: { keyId }, hash: statement }) => !mayRevoke(state, { node, keyId, statement }))
      ) {
        continue;
      }
      const known = {
        isCertified: (keyId: Sha256Hash) => keys.directory.get(node, keyId) !== undefined,
        sealing: await sealingKeys(node),
        witnessing: new Set(witnessingKeys(node)),
      };
      toName.push(...revocationsToName(state, self, revocations, known));
    }
    return toName;
  }

  /** When the roster in force was decided, with which all open names fell; null for the genesis. */
  async #lastChange({ rosters }: DecisionState): Promise<Timestamp | null> {
    const index = rosters.at(-1)?.index ?? null;
    return index === null ? null : this.#options.federationLog.timeOf(index);
  }
}
