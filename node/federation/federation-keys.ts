import { Compile } from 'typebox/compile';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { KeyDirectory, KeyError } from '../../protocol/keys/key-directory.ts';
import { type Roster, rosterStatement, type SignedRoster, SignedRosterShape } from '../../protocol/keys/roster.ts';
import { RosterChain, RosterError } from '../../protocol/keys/roster-chain.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { Lanes } from '../lanes.ts';
import type { Operation } from '../store/operation.ts';
import { statementCodec } from '../store/statement-codec.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
import { PeerStatementError } from './peer-statement-error.ts';

const compiled = Compile(SignedRosterShape);

/** (version) → signed roster. */
export const rosterTable = new Table(
  'roster',
  jsonCodec((value: unknown): value is SignedRoster => compiled.Check(value)),
);
/** (version) → a second roster of that version, which a quorum signed too. Kept as proof: some members signed both. */
export const rivalRosterTable = new Table(
  'rival-roster',
  jsonCodec((value: unknown): value is SignedRoster => compiled.Check(value)),
);
/** (node, key id) → key certificate. */
export const certificateTable = new Table('certificate', statementCodec);
/** (node, key id) → revocation. */
export const revocationTable = new Table('revocation', statementCodec);

/** What came of a roster that a peer or an operator showed. `rival`: a quorum signed it beside the one that is kept. */
export type RosterOutcome = 'added' | 'known' | 'rival';

const ROSTER_LANE = 'rosters';

/** The federation as this node knows it: who belongs to it and which keys speak for whom. Everything in it was checked. */
export class FederationKeys {
  readonly #store: Store;
  #rosters: RosterChain;
  readonly directory: KeyDirectory;
  readonly #lanes = new Lanes<typeof ROSTER_LANE>();
  readonly #listeners = new Set<(roster: Roster) => void>();

  private constructor(store: Store, rosters: RosterChain) {
    this.#store = store;
    this.#rosters = rosters;
    this.directory = new KeyDirectory(nativeSuite, () => this.#rosters);
  }

  /**
   * Opens with the rosters of the node's configuration, or the longer chain in its store, and all certificates kept.
   * Throws `RosterError` or `KeyError` where a stored one does not hold, `RangeError` where the two chains differ.
   */
  static async open(store: Store, configured: readonly SignedRoster[]): Promise<FederationKeys> {
    const stored: SignedRoster[] = [];
    for await (const [, roster] of rosterTable.under(store, [])) stored.push(roster);
    const chain = RosterChain.open(nativeSuite, stored.length > configured.length ? stored : configured);
    const [genesis] = stored;
    if (genesis !== undefined && genesis.statement !== chain.signed[0]?.statement) {
      throw new RangeError('the store belongs to another federation than the configured roster');
    }
    const rows = chain.signed.map((roster, i) => rosterTable.put([i + 1], roster));
    if (stored.length < chain.signed.length) await store.write(rows);
    const keys = new FederationKeys(store, chain);
    for await (const [, signed] of certificateTable.under(store, [])) keys.directory.addCertificate(signed);
    for await (const [, signed] of revocationTable.under(store, [])) keys.directory.addRevocation(signed);
    return keys;
  }

  get rosters(): RosterChain {
    return this.#rosters;
  }

  isMember(node: NodeId): boolean {
    return this.#rosters.current.members.some((member) => member.node === node);
  }

  /** Calls `listener` with every roster that is added from now on. Returns what ends that. */
  onRoster(listener: (roster: Roster) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Checks the next roster against the current one and takes it: it holds once it is on the disk. One of a version that
   * is known changes nothing; where it is another than the known one, and a quorum signed it too, it is kept as proof.
   * Throws `PeerStatementError`: `unknown-member` where rosters before it are missing.
   */
  learnRoster(signed: SignedRoster, besides: readonly Operation[] = []): Promise<RosterOutcome> {
    return this.#lanes.exclusive(ROSTER_LANE, () => this.#learnRoster(signed, besides));
  }

  async #learnRoster(signed: SignedRoster, besides: readonly Operation[]): Promise<RosterOutcome> {
    const { version } = rosterFault(() => rosterStatement.parse(signed.statement));
    const known = this.#rosters.signed[version - 1];
    if (known?.statement === signed.statement) return 'known';
    if (version > this.#rosters.current.version + 1) {
      throw new PeerStatementError('unknown-member', `roster ${version} is ahead of what is known here`);
    }
    if (known !== undefined) return this.#keepRival(version, signed);
    const longer = rosterFault(() => this.#rosters.follow(nativeSuite, signed));
    await this.#store.write([rosterTable.put([version], signed), ...besides]);
    this.#rosters = longer;
    for (const listener of this.#listeners) listener(longer.current);
    return 'added';
  }

  async #keepRival(version: number, signed: SignedRoster): Promise<'rival'> {
    if (version === 1) throw new PeerStatementError('forged', 'the genesis roster of another federation');
    rosterFault(() => this.#rosters.upTo(nativeSuite, version - 1).follow(nativeSuite, signed));
    await this.#store.write([rivalRosterTable.put([version], signed)]);
    return 'rival';
  }

  /**
   * Checks and keeps a certificate, with rows that hold when it does. Returns whether it changed anything. Throws
   * `PeerStatementError`.
   */
  async learnCertificate(signed: SignedStatement, besides: readonly Operation[] = []): Promise<boolean> {
    const { certificate } = peerFault(() => this.directory.addCertificate(signed));
    const { node, keyId } = certificate;
    // Of two for one key the directory keeps the earlier, whichever came first; so does the store.
    const standing = this.directory.get(node, keyId)?.signed;
    const known = await certificateTable.get(this.#store, node, keyId);
    if (standing === undefined || known?.statement === standing.statement) return false;
    await this.#store.write([certificateTable.put([node, keyId], standing), ...besides]);
    return true;
  }

  /** The same for a revocation. */
  async learnRevocation(signed: SignedStatement, besides: readonly Operation[] = []): Promise<boolean> {
    const { node, keyId } = peerFault(() => this.directory.addRevocation(signed));
    const standing = this.directory.revocation(node, keyId)?.signed;
    const known = await revocationTable.get(this.#store, node, keyId);
    if (standing === undefined || known?.statement === standing.statement) return false;
    await this.#store.write([revocationTable.put([node, keyId], standing), ...besides]);
    return true;
  }

  /** Hashes of all certificates and revocations known: what two peers compare. */
  hashes(): Sha256Hash[] {
    const { certificates, revocations } = this.statements();
    return [...certificates, ...revocations].map(({ statement }) => hashText(nativeSuite, statement));
  }

  /** Every certificate and revocation known, for a peer that asks. */
  statements(): {
    readonly certificates: readonly SignedStatement[];
    readonly revocations: readonly SignedStatement[];
  } {
    const keys = this.directory.all();
    return {
      certificates: keys.map((key) => key.signed),
      revocations: keys.flatMap(
        ({ certificate }) => this.directory.revocation(certificate.node, certificate.keyId)?.signed ?? [],
      ),
    };
  }
}

/** What the chain refuses, in the words that peers are judged by. */
function rosterFault<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    const isForged = error instanceof RosterError && error.code !== 'malformed';
    throw new PeerStatementError(isForged ? 'forged' : 'malformed', error instanceof Error ? error.message : 'roster');
  }
}

/** What the directory refuses, in the words that peers are judged by. */
function peerFault<Result>(add: () => Result): Result {
  try {
    return add();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new PeerStatementError(error.code === 'unknown-member' ? 'unknown-member' : 'forged', error.message);
  }
}
