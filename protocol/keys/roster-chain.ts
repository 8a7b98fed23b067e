import { decodeBase64url } from '../bytes.ts';
import { hashText, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { RosterError } from '../log/roster-error.ts';
import { federationDigest, hasMember, type Member, type Roster, rosterStatement } from '../log/roster.ts';
import { RosterHistory } from '../log/roster-history.ts';
import { judgeAfter, judgeGenesis } from '../log/roster-rules.ts';
import type { Base64url } from '../shapes.ts';
import { signatureHolds } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { GivenRosters } from './roster-file.ts';
import type { SignedRoster } from './signed-roster.ts';

/**
 * The rosters of one federation from genesis on, each linked to the one before it and allowed after it. Which of them
 * are in force is for the log to say. Immutable.
 */
export class RosterChain {
  readonly rosters: readonly Roster[];
  /** Of each roster, in order of versions. */
  readonly texts: readonly string[];
  readonly hashes: readonly Sha256Hash[];
  readonly signedGenesis: SignedRoster;
  /** Hash of the genesis roster: the federation's fingerprint, which a verifier pins. */
  readonly genesis: Sha256Hash;
  /** Hash of the current roster. */
  readonly hash: Sha256Hash;
  /** Eight hex digits of the fingerprint: the federation's short name on the wire. */
  readonly digest: string;
  /** Made when a next roster is judged first. */
  #history: RosterHistory | undefined;

  private constructor(
    signedGenesis: SignedRoster,
    rosters: readonly Roster[],
    texts: readonly string[],
    hashes: readonly Sha256Hash[],
    history?: RosterHistory,
  ) {
    const [genesis] = hashes;
    if (genesis === undefined) throw new RosterError('empty', 'no genesis roster');
    this.signedGenesis = signedGenesis;
    this.rosters = rosters;
    this.texts = texts;
    this.hashes = hashes;
    this.genesis = genesis;
    this.hash = hashes.at(-1) ?? genesis;
    this.digest = federationDigest(genesis);
    this.#history = history;
  }

  /**
   * Checks and opens a chain: versions from 1 without gap, each naming the hash of the one before and breaking no rule;
   * genesis signed by all its members. Throws `RosterError`.
   */
  static open(suite: Suite, { genesis, later }: GivenRosters): RosterChain {
    const founding = judgeGenesis(genesis.statement);
    requireFounders(suite, genesis, founding);
    const history = new RosterHistory(suite, founding, hashText(suite, genesis.statement));
    const [rosters, hashes] = [[founding], [history.hash]];
    for (const text of later) {
      const roster = judgeAfter(suite, history, text);
      history.add(suite, roster, hashText(suite, text));
      rosters.push(roster);
      hashes.push(history.hash);
    }
    return new RosterChain(genesis, rosters, [genesis.statement, ...later], hashes, history);
  }

  /** The chain with the rosters of these texts more. Throws `RosterError`. */
  follow(suite: Pick<Suite, 'sha256Hex'>, ...texts: readonly string[]): RosterChain {
    const history = this.#readHistory(suite);
    const [rosters, hashes] = [[...this.rosters], [...this.hashes]];
    for (const text of texts) {
      const roster = judgeAfter(suite, history, text);
      history.add(suite, roster, hashText(suite, text));
      rosters.push(roster);
      hashes.push(history.hash);
    }
    return new RosterChain(this.signedGenesis, rosters, [...this.texts, ...texts], hashes, history);
  }

  /** The roster of a text that may follow the current one, whoever signed it. Throws `RosterError`. */
  judgeNext(suite: Pick<Suite, 'sha256Hex'>, text: string): Roster {
    this.#history ??= this.#readHistory(suite);
    return judgeAfter(suite, this.#history, text);
  }

  /** The chain as it was at a version. Throws `RosterError` where it has none. */
  upTo(version: number): RosterChain {
    if (this.version(version) === undefined) throw new RosterError('broken-chain', `there is no roster ${version}`);
    const [rosters, texts] = [this.rosters.slice(0, version), this.texts.slice(0, version)];
    return new RosterChain(this.signedGenesis, rosters, texts, this.hashes.slice(0, version));
  }

  #readHistory(suite: Pick<Suite, 'sha256Hex'>): RosterHistory {
    const [genesis, ...later] = this.rosters;
    if (genesis === undefined) throw new RosterError('empty', 'no genesis roster');
    const history = new RosterHistory(suite, genesis, this.genesis);
    for (const [i, roster] of later.entries()) history.add(suite, roster, this.hashes[i + 1] ?? this.hash);
    return history;
  }

  /** The same as a file gives it. */
  get given(): GivenRosters {
    return { genesis: this.signedGenesis, later: this.texts.slice(1) };
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
    return this.rosters.findLast((roster) => hasMember(roster, node));
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
}

/**
 * Members who signed a roster of whom it is to be signed by the members of `judges`: every signature present must hold,
 * be by one of them, and be the member's only one. Throws `RosterError`.
 */
export function rosterSigners(suite: Suite, entry: SignedRoster, { members }: Roster): ReadonlySet<NodeId> {
  const signers = new Set<NodeId>();
  for (const { node, signature } of entry.signatures) {
    const member = members.find((candidate) => candidate.node === node);
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

function requireFounders(suite: Suite, entry: SignedRoster, founding: Roster): void {
  const signers = rosterSigners(suite, entry, founding);
  const needed = founding.members.length;
  if (signers.size >= needed) return;
  throw new RosterError('too-few-signatures', `${signers.size} of ${needed} signatures of the genesis roster`);
}
