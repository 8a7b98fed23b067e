import { Compile } from 'typebox/compile';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { KeyDirectory, KeyError } from '../../protocol/keys/key-directory.ts';
import { type SignedRoster, SignedRosterShape } from '../../protocol/keys/roster.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
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
/** (node, key id) → key certificate. */
export const certificateTable = new Table('certificate', statementCodec);
/** (node, key id) → revocation. */
export const revocationTable = new Table('revocation', statementCodec);

/** The federation as this node knows it: who belongs to it and which keys speak for whom. Everything in it was checked. */
export class FederationKeys {
  readonly #store: Store;
  #rosters: RosterChain;
  readonly directory: KeyDirectory;

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

  /** Checks and keeps a certificate. Returns whether it changed anything. Throws `PeerStatementError`. */
  async learnCertificate(signed: SignedStatement): Promise<boolean> {
    const { certificate } = peerFault(() => this.directory.addCertificate(signed));
    const { node, keyId } = certificate;
    // Of two for one key the directory keeps the earlier, whichever came first; so does the store.
    const standing = this.directory.get(node, keyId)?.signed;
    const known = await certificateTable.get(this.#store, node, keyId);
    if (standing === undefined || known?.statement === standing.statement) return false;
    await this.#store.write([certificateTable.put([node, keyId], standing)]);
    return true;
  }

  /** Checks and keeps a revocation. Returns whether it changed anything. Throws `PeerStatementError`. */
  async learnRevocation(signed: SignedStatement): Promise<boolean> {
    const { node, keyId } = peerFault(() => this.directory.addRevocation(signed));
    const standing = this.directory.revocation(node, keyId)?.signed;
    const known = await revocationTable.get(this.#store, node, keyId);
    if (standing === undefined || known?.statement === standing.statement) return false;
    await this.#store.write([revocationTable.put([node, keyId], standing)]);
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

/** What the directory refuses, in the words that peers are judged by. */
function peerFault<Result>(add: () => Result): Result {
  try {
    return add();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new PeerStatementError(error.code === 'unknown-member' ? 'unknown-member' : 'forged', error.message);
  }
}
