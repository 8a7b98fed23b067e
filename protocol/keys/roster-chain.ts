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
  /** Hash of the genesis roster: the federation's fingerprint, which a verifier pins. */
  readonly genesis: Sha256Hash;
  /** Eight hex digits of the fingerprint, as topics and anchor messages carry it. */
  readonly federation: string;

  private constructor(rosters: readonly Roster[], signed: readonly SignedRoster[], genesis: Sha256Hash) {
    this.rosters = rosters;
    this.signed = signed;
    this.genesis = genesis;
    this.federation = federationDigest(genesis);
  }

  /**
   * Checks and opens a chain: versions from 1 without gap, each naming the hash of the one before; genesis signed by
   * all its members, every later roster by a quorum of the members before. Throws `RosterError`.
   */
  static open(suite: Suite, signed: readonly SignedRoster[]): RosterChain {
    const [first] = signed;
    if (first === undefined) throw new RosterError('empty', 'no genesis roster');
    const rosters: Roster[] = [];
    signed.forEach((entry, i) => {
      const roster = parseRoster(entry);
      const before = rosters.at(-1);
      const previousText = signed[i - 1];
      const previous = previousText === undefined ? null : rosterHash(suite, previousText);
      if (roster.version !== i + 1 || roster.previous !== previous) {
        throw new RosterError('broken-chain', `roster ${i + 1} does not follow the one before`);
      }
      requireSignatures(suite, entry, before ?? roster, before?.quorum ?? roster.members.length);
      rosters.push(roster);
    });
    return new RosterChain(rosters, signed, rosterHash(suite, first));
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

function parseRoster(entry: SignedRoster): Roster {
  let roster: Roster;
  try {
    roster = rosterStatement.parse(entry.statement);
  } catch (error) {
    throw new RosterError('malformed', error instanceof Error ? error.message : 'unreadable roster');
  }
  const names = new Set(roster.members.map((member) => member.node));
  if (names.size !== roster.members.length) throw new RosterError('malformed', 'a member is named twice');
  const identityKeys = new Set(roster.members.map((member) => member.identityKey));
  if (identityKeys.size !== roster.members.length) {
    throw new RosterError('malformed', 'two members with one identity key would vote twice');
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

/** Every signature present must hold, be by a member of `judges`, and be the member's only one. */
function requireSignatures(suite: Suite, entry: SignedRoster, judges: Roster, needed: number): void {
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
  if (signers.size < needed) {
    throw new RosterError('too-few-signatures', `${signers.size} of ${needed} roster signatures`);
  }
}
