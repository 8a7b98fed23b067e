import { decodeBase64url } from '../bytes.ts';
import type { Sha256Hash } from '../hash.ts';
import type { EntityId, NodeId } from '../ids.ts';
import { RosterError } from '../log/roster-error.ts';
import {
  federationDigest,
  hashOfRoster,
  type Member,
  neededWitnesses,
  type Roster,
  rosterStatement,
} from '../log/roster.ts';
import { RosterHistory } from '../log/roster-history.ts';
import { judgeAfter, judgeGenesis } from '../log/roster-rules.ts';
import type { Base64url } from '../shapes.ts';
import { signatureHolds } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { SignedRoster } from './signed-roster.ts';

/** The rosters of one federation, from genesis on, each authorised by the one before. Immutable. */
export class RosterChain {
  readonly rosters: readonly Roster[];
  readonly signed: readonly SignedRoster[];
  /** Of each roster, in order of versions. */
  readonly hashes: readonly Sha256Hash[];
  /** Hash of the genesis roster: the federation's fingerprint, which a verifier pins. */
  readonly genesis: Sha256Hash;
  /** Hash of the current roster. */
  readonly hash: Sha256Hash;
  /** Eight hex digits of the fingerprint: the federation's short name on the wire. */
  readonly digest: string;
  /** Made when a next roster is judged first. */
  #history: RosterHistory | undefined;

  private constructor(
    rosters: readonly Roster[],
    signed: readonly SignedRoster[],
    hashes: readonly Sha256Hash[],
    history?: RosterHistory,
  ) {
    const [genesis] = hashes;
    if (genesis === undefined) throw new RosterError('empty', 'no genesis roster');
    this.rosters = rosters;
    this.signed = signed;
    this.hashes = hashes;
    this.genesis = genesis;
    this.hash = hashes.at(-1) ?? genesis;
    this.digest = federationDigest(genesis);
    this.#history = history;
  }

  /**
   * Checks and opens a chain: versions from 1 without gap, each naming the hash of the one before; genesis signed by
   * all its members, every later roster by a quorum of the members before. Throws `RosterError`.
   */
  static open(suite: Suite, signed: readonly SignedRoster[]): RosterChain {
    const [first] = signed;
    if (first === undefined) throw new RosterError('empty', 'no genesis roster');
    let current = judgeGenesis(first.statement);
    requireSignatures(suite, first, current, current.members.length);
    const history = new RosterHistory(suite, current, hashOfRoster(suite, first.statement));
    const [rosters, hashes] = [[current], [history.hash]];
    for (const next of signed.slice(1)) {
      const roster = judgeAfter(suite, history, next.statement);
      requireSignatures(suite, next, current, neededWitnesses(current));
      history.add(suite, roster, hashOfRoster(suite, next.statement));
      rosters.push(roster);
      hashes.push(history.hash);
      current = roster;
    }
    return new RosterChain(rosters, [...signed], hashes, history);
  }

  /** The chain with one roster more, which a quorum of the current members signed. Throws `RosterError`. */
  follow(suite: Suite, next: SignedRoster): RosterChain {
    const roster = this.judgeNext(suite, next.statement);
    requireSignatures(suite, next, this.current, neededWitnesses(this.current));
    const hashes = [...this.hashes, hashOfRoster(suite, next.statement)];
    return new RosterChain([...this.rosters, roster], [...this.signed, next], hashes);
  }

  /** The roster of a text that may follow the current one, whoever signed it. Throws `RosterError`. */
  judgeNext(suite: Pick<Suite, 'sha256Hex'>, text: string): Roster {
    this.#history ??= this.#readHistory(suite);
    return judgeAfter(suite, this.#history, text);
  }

  /** The chain as it was at a version. Throws `RosterError` where it has none. */
  upTo(version: number): RosterChain {
    if (this.version(version) === undefined) throw new RosterError('broken-chain', `there is no roster ${version}`);
    const [rosters, signed] = [this.rosters.slice(0, version), this.signed.slice(0, version)];
    return new RosterChain(rosters, signed, this.hashes.slice(0, version));
  }

  #readHistory(suite: Pick<Suite, 'sha256Hex'>): RosterHistory {
    const [genesis, ...later] = this.rosters;
    if (genesis === undefined) throw new RosterError('empty', 'no genesis roster');
    const history = new RosterHistory(suite, genesis, this.genesis);
    for (const [i, roster] of later.entries()) history.add(suite, roster, this.hashes[i + 1] ?? this.hash);
    return history;
  }

  /** Every node that any of the rosters names. */
  get nodes(): readonly NodeId[] {
    return [...new Set(this.rosters.flatMap(({ members }) => members.map(({ node }) => node)))];
  }

  get current(): Roster {
    const current = this.rosters.at(-1);
    if (current === undefined) throw new RosterError('empty', 'no genesis roster');
    return current;
  }

  version(version: number): Roster | undefined {
    return this.rosters[version - 1];
  }

  /** The newest roster that names a node. */
  lastWith(node: NodeId): Roster | undefined {
    return this.rosters.findLast(({ members }) => members.some((member) => member.node === node));
  }

  /** The member as the newest roster that names it has it. */
  member(node: NodeId): Member | undefined {
    return this.lastWith(node)?.members.find((member) => member.node === node);
  }

  /** Every identity key by which the rosters name a node, the newest first: what any of them signed is the node's. */
  identityKeys(node: NodeId): readonly Base64url[] {
    const named = this.rosters.flatMap(({ members }) => members.filter((member) => member.node === node));
    return [...new Set(named.toReversed().map(({ identityKey }) => identityKey))];
  }

  /** The node whose ledger account this is, in whichever roster; undefined where it is none of a member. */
  ownerOf(account: EntityId): NodeId | undefined {
    for (const { members } of this.rosters) {
      const owner = members.find(({ accounts }) => accounts.includes(account));
      if (owner !== undefined) return owner.node;
    }
    return undefined;
  }
}

/**
 * Who signed a roster: every signature present must hold, be by a member of `judges`, and be the member's only one.
 * Throws `RosterError`.
 */
export function rosterSigners(suite: Suite, entry: SignedRoster, judges: Roster): ReadonlySet<NodeId> {
  const signers = new Set<NodeId>();
  for (const { node, signature } of entry.signatures) {
    const member = judges.members.find((candidate) => candidate.node === node);
    if (member === undefined) throw new RosterError('too-few-signatures', `${node} may not sign this roster`);
    if (signers.has(node)) throw new RosterError('too-few-signatures', `${node} signed this roster twice`);
    const signed = { statement: entry.statement, signature };
    if (!signatureHolds(suite, rosterStatement, signed, decodeBase64url(member.identityKey))) {
      throw new RosterError('too-few-signatures', `the roster signature of ${node} does not hold`);
    }
    signers.add(node);
  }
  return signers;
}

function requireSignatures(suite: Suite, entry: SignedRoster, judges: Roster, needed: number): void {
  const signers = rosterSigners(suite, entry, judges);
  if (signers.size >= needed) return;
  throw new RosterError('too-few-signatures', `${signers.size} of ${needed} roster signatures`);
}
