import { decodeBase64url } from '../bytes.ts';
import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { signatureHolds } from '../statement/statement.ts';
import type { Base64url } from '../shapes.ts';
import { PUBLIC_KEY_BYTES, type Suite } from '../suite/suite.ts';
import {
  federationDigest,
  type Member,
  type Roster,
  rosterHash,
  rosterStatement,
  type SignedRoster,
} from './roster.ts';

export class RosterError extends Error {
  override readonly name = 'RosterError';
  readonly code: 'malformed' | 'broken-chain' | 'too-few-signatures' | 'empty';

  constructor(code: RosterError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

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
  /** Eight hex digits of the fingerprint, as topics and anchor messages carry it. */
  readonly federation: string;

  private constructor(rosters: readonly Roster[], signed: readonly SignedRoster[], hashes: readonly Sha256Hash[]) {
    const [genesis] = hashes;
    if (genesis === undefined) throw new RosterError('empty', 'no genesis roster');
    this.rosters = rosters;
    this.signed = signed;
    this.hashes = hashes;
    this.genesis = genesis;
    this.hash = hashes.at(-1) ?? genesis;
    this.federation = federationDigest(genesis);
  }

  /**
   * Checks and opens a chain: versions from 1 without gap, each naming the hash of the one before; genesis signed by
   * all its members, every later roster by a quorum of the members before. Throws `RosterError`.
   */
  static open(suite: Suite, signed: readonly SignedRoster[]): RosterChain {
    const [first] = signed;
    if (first === undefined) throw new RosterError('empty', 'no genesis roster');
    const roster = RosterChain.judgeGenesis(first.statement);
    requireSignatures(suite, first, roster, roster.members.length);
    const genesis = new RosterChain([roster], [first], [rosterHash(suite, first)]);
    return signed.slice(1).reduce((chain, next) => chain.follow(suite, next), genesis);
  }

  /** The genesis roster of a statement, whoever signed it. Throws `RosterError`. */
  static judgeGenesis(statement: string): Roster {
    const roster = parseRoster(statement);
    requirePlace(roster, 1, null);
    return roster;
  }

  /** The chain with one roster more, which a quorum of the current members signed. Throws `RosterError`. */
  follow(suite: Suite, next: SignedRoster): RosterChain {
    const roster = this.judgeNext(next.statement);
    requireSignatures(suite, next, this.current, this.current.quorum);
    const hashes = [...this.hashes, rosterHash(suite, next)];
    return new RosterChain([...this.rosters, roster], [...this.signed, next], hashes);
  }

  /**
   * The roster of a statement that may follow the current one, whoever signed it. A node keeps its identity key for ever,
   * the key its node, and the federation its ledger topic. Throws `RosterError`.
   */
  judgeNext(statement: string): Roster {
    const roster = parseRoster(statement);
    requirePlace(roster, this.current.version + 1, this.hash);
    for (const member of roster.members) this.#requireSameIdentity(member);
    const { network, topicId } = this.current.ledger;
    if (roster.ledger.network !== network || roster.ledger.topicId !== topicId) {
      throw new RosterError('malformed', 'a federation keeps its ledger topic: its anchors have one order');
    }
    return roster;
  }

  /** The chain as it was at a version. Throws `RosterError` where it has none. */
  upTo(version: number): RosterChain {
    if (this.version(version) === undefined) throw new RosterError('broken-chain', `there is no roster ${version}`);
    const [rosters, signed] = [this.rosters.slice(0, version), this.signed.slice(0, version)];
    return new RosterChain(rosters, signed, this.hashes.slice(0, version));
  }

  #requireSameIdentity({ node, identityKey }: Member): void {
    for (const { members } of this.rosters) {
      const known = members.find((member) => member.node === node || member.identityKey === identityKey);
      if (known === undefined || (known.node === node && known.identityKey === identityKey)) continue;
      throw new RosterError('malformed', `the identity key of ${node} is not the one that an earlier roster names`);
    }
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

  /** The member as the newest roster that names it has it. */
  member(node: NodeId): Member | undefined {
    for (const roster of this.rosters.toReversed()) {
      const member = roster.members.find((candidate) => candidate.node === node);
      if (member !== undefined) return member;
    }
    return undefined;
  }
}

function requirePlace(roster: Roster, version: number, previous: Sha256Hash | null): void {
  if (roster.version === version && roster.previous === previous) return;
  throw new RosterError('broken-chain', `roster ${version} does not follow the one before`);
}

function parseRoster(statement: string): Roster {
  let roster: Roster;
  try {
    roster = rosterStatement.parse(statement);
  } catch (error) {
    throw new RosterError('malformed', error instanceof Error ? error.message : 'unreadable roster');
  }
  const names = new Set(roster.members.map((member) => member.node));
  if (names.size !== roster.members.length) throw new RosterError('malformed', 'a member is named twice');
  const identityKeys = new Set(roster.members.map((member) => member.identityKey));
  if (identityKeys.size !== roster.members.length) {
    throw new RosterError('malformed', 'two members with one identity key would vote twice');
  }
  if (new Set(roster.members.map((member) => member.peerId)).size !== roster.members.length) {
    throw new RosterError('malformed', 'two members with one peer id');
  }
  if (!roster.members.every((member) => isPublicKey(member.identityKey))) {
    throw new RosterError('malformed', 'an identity key is not an ML-DSA-65 public key');
  }
  if (roster.quorum >= roster.members.length && roster.members.length > 1) {
    throw new RosterError('malformed', 'a quorum of witnesses must fit besides the origin');
  }
  return roster;
}

function isPublicKey(text: Base64url): boolean {
  try {
    return decodeBase64url(text).length === PUBLIC_KEY_BYTES;
  } catch {
    return false;
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
