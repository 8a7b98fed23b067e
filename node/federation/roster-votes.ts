import { utf8 } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { hashOfRoster, type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { encodeSignature } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { Lanes } from '../lanes.ts';
import { statementCodec } from '../store/statement-codec.ts';
import type { Store } from '../store/store.ts';
import { Table } from '../store/table.ts';
import type { RosterBook } from './roster-book.ts';
import { TransportError } from './transport/errors.ts';
import { requireReadable } from './transport/members.ts';

/** (version) → the roster of that version which this node signed last, with its signature. */
export const rosterVoteTable = new Table('roster-vote', statementCodec);

/** This node does not sign a roster. */
export class RosterVoteError extends Error {
  override readonly name = 'RosterVoteError';
}

const LANE = 'votes';

/**
 * Signs next rosters with this node's identity key, as its operator says. Two rosters of one version that a quorum
 * signed tear the federation apart until the ledger decides, so a second one is signed only when the operator insists.
 *
 * Crash order: the vote is on the disk before the signature leaves.
 */
export class RosterVotes {
  readonly #self: NodeId;
  readonly #store: Store;
  readonly #book: RosterBook;
  readonly #identity: Signer;
  readonly #lanes = new Lanes<typeof LANE>();

  constructor({ self, store, book, identity }: RosterVotesOptions) {
    this.#self = self;
    this.#store = store;
    this.#book = book;
    this.#identity = identity;
  }

  /** Throws `RosterVoteError`. */
  sign(statement: string, insists: boolean): Promise<SignedRoster['signatures'][number]> {
    return this.#lanes.exclusive(LANE, async () => {
      const { version } = this.#judge(statement);
      const earlier = await rosterVoteTable.get(this.#store, version);
      if (earlier !== undefined && earlier.statement !== statement && !insists) {
        const hash = hashOfRoster(nativeSuite, earlier.statement);
        throw new RosterVoteError(`${this.#self} signed another roster of version ${version} (${hash})`);
      }
      const signature = encodeSignature(await this.#identity.sign(utf8(statement), rosterStatement.context));
      await this.#store.write([rosterVoteTable.put([version], { statement, signature })]);
      return { node: this.#self, signature };
    });
  }

  #judge(statement: string): Roster {
    const { chain } = this.#book;
    if (!chain.current.members.some(({ node }) => node === this.#self)) {
      throw new RosterVoteError(`${this.#self} is not in the roster in force, and has no vote on the next`);
    }
    try {
      const roster = chain.judgeNext(nativeSuite, statement);
      // Addresses that no transport can read would keep the roster from being applied.
      requireReadable(roster.members);
      return roster;
    } catch (error) {
      if (!(error instanceof RosterError || error instanceof TransportError)) throw error;
      throw new RosterVoteError(error.message);
    }
  }
}

export interface RosterVotesOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly book: RosterBook;
  readonly identity: Signer;
}
