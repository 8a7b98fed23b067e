import type { Logger } from 'pino';
import { hashText } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type DecisionState, rosterInForce } from '../../protocol/log/decision-state.ts';
import { mayRevoke } from '../../protocol/log/in-force.ts';
import type { NamedStatement } from '../../protocol/log/naming.ts';
import { revocationStatement } from '../../protocol/log/revocation.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationLog } from './federation-log.ts';

/** Undecided revocations of one other node that this member names at once. */
const MAX_REVOCATIONS = 8;

export interface StatementNamerOptions {
  readonly self: NodeId;
  readonly keys: FederationKeys;
  readonly federationLog: Pick<FederationLog, 'state'>;
  /** Has a message that names the statement sent to the ledger, unless it is under way or this member has named it. */
  readonly ensure: (statement: NamedStatement) => Promise<void>;
  readonly log: Logger;
}

/**
 * Names on the ledger what this member wants in force: the next roster, where its own identity key signed it, and every
 * revocation that it holds (TRUST §2). What decided nothing is named again while it matters.
 */
export class StatementNamer implements Disposable {
  readonly #options: StatementNamerOptions;
  readonly #stopListening: readonly (() => void)[];
  #naming: Promise<void> = Promise.resolve();
  #started = false;

  constructor(options: StatementNamerOptions) {
    this.#options = options;
    const { keys } = options;
    this.#stopListening = [keys.book.onRoster(() => this.name()), keys.onRevocation(() => this.name())];
  }

  start(): void {
    this.#started = true;
    this.name();
  }

  /** Looks again: something was learned, or the log has grown. */
  name(): void {
    if (!this.#started) return;
    const { ensure, log } = this.#options;
    this.#naming = this.#naming.then(async () => {
      for (const statement of this.#wanted()) await ensure(statement);
    });
    this.#naming = this.#naming.catch((error: unknown) => {
      log.error({ err: error }, 'what is to come into force could not be named');
    });
  }

  [Symbol.dispose](): void {
    this.#started = false;
    for (const stop of this.#stopListening) stop();
  }

  #wanted(): readonly NamedStatement[] {
    const { self, federationLog } = this.#options;
    const { state } = federationLog;
    if (state.members[self] === undefined) return [];
    return [...this.#roster(state), ...this.#revocations(state)];
  }

  #roster(state: DecisionState): readonly NamedStatement[] {
    const { self, keys } = this.#options;
    const place = keys.rosters.hashes.indexOf(rosterInForce(state));
    const next = place < 0 ? undefined : keys.rosters.signed[place + 1];
    if (next === undefined || !next.signatures.some(({ node }) => node === self)) return [];
    return [{ type: 'roster', text: next.statement }];
  }

  #revocations(state: DecisionState): readonly NamedStatement[] {
    const { self, keys } = this.#options;
    const counts = new Map<NodeId, number>();
    const named = state.open[self]?.revocations ?? [];
    return keys.statements().revocations.flatMap(({ statement: text }): NamedStatement[] => {
      const { node, keyId } = revocationStatement.parse(text);
      const hash = hashText(nativeSuite, text);
      if (!mayRevoke(state, { node, keyId, statement: hash })) return [];
      if (named.some(({ statement }) => statement === hash)) return [];
      const count = counts.get(node) ?? 0;
      counts.set(node, count + 1);
      return node === self || count < MAX_REVOCATIONS ? [{ type: 'revocation', text }] : [];
    });
  }
}
