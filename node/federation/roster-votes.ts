import Type from 'typebox';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { rosterInForce } from '../../protocol/log/decision-state.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import { judgeNext } from '../../protocol/log/roster-rules.ts';
import { type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { TimestampShape } from '../../protocol/shapes.ts';
import { type SignedStatement, SignedStatementShape, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { FederationLog } from '../log/federation-log.ts';
import { rosterTextTable } from '../log/log-tables.ts';
import type { Store } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import { TransportError } from '../transport/errors.ts';

/** A roster that this node wants next, as its identity key signed it, and when its operator said so. */
export interface RosterVote {
  readonly signed: SignedStatement;
  readonly at: Timestamp;
}

/** (version) → the roster of that version which this node signed last. */
export const rosterVoteTable = jsonTable(
  'roster-vote',
  Type.Object({ signed: SignedStatementShape, at: TimestampShape }),
);

/** This node does not sign a roster. */
export class RosterVoteError extends Error {
  override readonly name = 'RosterVoteError';
}

export interface RosterVotesOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly federationLog: Pick<FederationLog, 'state'>;
  readonly identity: Signer;
  readonly now: () => Timestamp;
  /** Has what is signed named on the ledger. */
  readonly onVote: () => void;
}

const LOCK_KEY = 'votes';

/**
 * Signs next rosters with this node's identity key, as its operator says. Of several the one signed last is the one
 * that this node names: so a tie can be left.
 *
 * Crash order: the vote and the roster's text are on the disk before its name leaves; anyone who needs the text gets it
 * here.
 */
export class RosterVotes {
  readonly #options: RosterVotesOptions;
  readonly #locks = new KeyedLock<typeof LOCK_KEY>();

  constructor(options: RosterVotesOptions) {
    this.#options = options;
  }

  /**
   * Signs a roster, and has it named. Returns its hash. Throws `RosterVoteError` on one that could not come into force.
   */
  sign(text: string): Promise<Sha256Hash> {
    const { store, identity, now, onVote } = this.#options;
    return this.#locks.exclusive(LOCK_KEY, async () => {
      const roster = await this.#judge(text);
      const hash = hashText(nativeSuite, text);
      const signed = await signStatement(rosterStatement, roster, identity);
      await store.write([
        rosterVoteTable.put([roster.version], { signed, at: now() }),
        rosterTextTable.put([hash], text),
      ]);
      onVote();
      return hash;
    });
  }

  /** What this node wants to follow the roster in force; undefined where its operator has signed nothing. */
  async next(): Promise<RosterVote | undefined> {
    const { store, federationLog } = this.#options;
    const { state } = federationLog;
    const vote = await rosterVoteTable.get(store, state.rosters.length + 1);
    if (vote === undefined) return undefined;
    return rosterStatement.parse(vote.signed.statement).previous === rosterInForce(state) ? vote : undefined;
  }

  async #judge(text: string): Promise<Roster> {
    const { self, federationLog } = this.#options;
    if (federationLog.state.members[self] === undefined) {
      throw new RosterVoteError(`${self} is not in the roster in force, and has no vote on the next`);
    }
    try {
      const roster = judgeNext(nativeSuite, federationLog.state, text);
      const { requireReachable } = await import('../transport/read-members.ts');
      requireReachable(roster.members);
      return roster;
    } catch (error) {
      if (!(error instanceof RosterError || error instanceof TransportError)) throw error;
      throw new RosterVoteError(error.message);
    }
  }
}
