import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { KeyDirectory, KeyError } from '../../protocol/keys/key-directory.ts';
import type { Revocation } from '../../protocol/log/revocation.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Operation } from '../store/operation.ts';
import { statementCodec } from '../store/statement-codec.ts';
import type { Store } from '../store/store.ts';
import { Table } from '../store/table.ts';
import { PeerStatementError } from './peer-statement-error.ts';
import { RosterBook, type RosterSource } from './roster-book.ts';

/** (node, key id) → key certificate. */
export const certificateTable = new Table('certificate', statementCodec);
/** (node, key id) → revocation. */
export const revocationTable = new Table('revocation', statementCodec);

/** The federation as this node knows it: who belongs to it and which keys speak for whom. Everything in it was checked. */
export class FederationKeys {
  readonly #store: Store;
  readonly book: RosterBook;
  readonly directory: KeyDirectory;
  /** Of members whose statements have not changed since. */
  readonly #digests = new Map<NodeId, Sha256Hash>();
  readonly #certificateListeners = new Set<(node: NodeId) => void>();
  readonly #revocationListeners = new Set<(revocation: Revocation) => void>();

  private constructor(store: Store, book: RosterBook) {
    this.#store = store;
    this.book = book;
    this.directory = new KeyDirectory(nativeSuite, () => book.chain);
  }

  /**
   * Opens with the rosters of the log and those that the node was given, and all certificates kept. Throws `KeyError` where
   * a stored one does not hold, `LogDamagedError` where the text of a roster is missing.
   */
  static async open(store: Store, log: RosterSource, given: RosterChain): Promise<FederationKeys> {
    const keys = new FederationKeys(store, await RosterBook.open(log, given));
    for await (const [, signed] of certificateTable.under(store, [])) {
      ofMember(() => keys.directory.addCertificate(signed));
    }
    for await (const [, signed] of revocationTable.under(store, [])) {
      ofMember(() => keys.directory.addRevocation(signed));
    }
    return keys;
  }

  /** The newest rosters that this node knows. */
  get rosters(): RosterChain {
    return this.book.chain;
  }

  isMember(node: NodeId): boolean {
    return this.rosters.current.members.some((member) => member.node === node);
  }

  /**
   * Checks and keeps a certificate, with rows that hold when it does. Returns whether it changed anything. Throws
   * `PeerStatementError`.
   */
  async learnCertificate(signed: SignedStatement, besides: readonly Operation[] = []): Promise<boolean> {
    const { certificate } = peerFault(() => this.directory.addCertificate(signed));
    const { node, keyId } = certificate;
    if (this.directory.get(node, keyId)?.signed === signed) this.#digests.delete(node);
    const known = await certificateTable.get(this.#store, node, keyId);
    // Of two for one key the directory keeps the earlier, whichever came first; so does the store.
    const standing = this.directory.get(node, keyId)?.signed;
    if (standing === undefined || known?.statement === standing.statement) return false;
    await this.#store.write([certificateTable.put([node, keyId], standing), ...besides]);
    for (const listener of this.#certificateListeners) listener(node);
    return true;
  }

  /** The same for a revocation. */
  async learnRevocation(signed: SignedStatement, besides: readonly Operation[] = []): Promise<boolean> {
    const { node, keyId } = peerFault(() => this.directory.addRevocation(signed));
    if (this.directory.revocation(node, keyId)?.signed === signed) this.#digests.delete(node);
    const known = await revocationTable.get(this.#store, node, keyId);
    const standing = this.directory.revocation(node, keyId);
    if (standing === undefined || known?.statement === standing.signed.statement) return false;
    await this.#store.write([revocationTable.put([node, keyId], standing.signed), ...besides]);
    for (const listener of this.#revocationListeners) listener(standing.revocation);
    return true;
  }

  /** Calls `listener` with the node of every certificate that is new. Returns what ends that. */
  onCertificate(listener: (node: NodeId) => void): () => void {
    this.#certificateListeners.add(listener);
    return () => this.#certificateListeners.delete(listener);
  }

  /** Public key of that id, where `node` has certified it for records from `first` on or earlier ones. */
  publicKeyOf(node: NodeId, keyId: Sha256Hash, first: number): Uint8Array | undefined {
    const key = this.directory.get(node, keyId);
    const covers = key?.certificate.purpose === 'signing' && key.certificate.seqFrom <= first;
    return covers ? key.publicKey : undefined;
  }

  /** Calls `listener` with every revocation that is new or earlier than the one known. Returns what ends that. */
  onRevocation(listener: (revocation: Revocation) => void): () => void {
    this.#revocationListeners.add(listener);
    return () => this.#revocationListeners.delete(listener);
  }

  /** One hash a member over all its certificates and revocations: what two peers compare. */
  digests(): { readonly node: NodeId; readonly hash: Sha256Hash }[] {
    return this.rosters.nodes.flatMap((node) => {
      const hash = this.digest(node);
      return hash === undefined ? [] : [{ node, hash }];
    });
  }

  /** Undefined of a member that has certified no key. */
  digest(node: NodeId): Sha256Hash | undefined {
    const known = this.#digests.get(node);
    if (known !== undefined) return known;
    const { certificates, revocations } = this.statements([node]);
    if (certificates.length === 0) return undefined;
    const hashes = [...certificates, ...revocations].map(({ statement }) => hashText(nativeSuite, statement));
    const digest = hashText(nativeSuite, hashes.toSorted().join('\n'));
    this.#digests.set(node, digest);
    return digest;
  }

  /** Every certificate and revocation known of these nodes, or of all, for a peer that asks. */
  statements(nodes: readonly NodeId[] | null = null): {
    readonly certificates: readonly SignedStatement[];
    readonly revocations: readonly SignedStatement[];
  } {
    const keys = nodes === null ? this.directory.all() : nodes.flatMap((node) => this.directory.of(node));
    return {
      certificates: keys.map((key) => key.signed),
      revocations: keys.flatMap(
        ({ certificate }) => this.directory.revocation(certificate.node, certificate.keyId)?.signed ?? [],
      ),
    };
  }
}

/** Passes over what a node said that only a roster named which the log did not come to. */
function ofMember(add: () => unknown): void {
  try {
    add();
  } catch (error) {
    if (!(error instanceof KeyError && error.code === 'unknown-member')) throw error;
  }
}

/** What the directory refuses, in the words that peers are judged by. */
function peerFault<Result>(add: () => Result): Result {
  try {
    return add();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    const { code, message } = error;
    throw new PeerStatementError(code === 'unknown-member' || code === 'too-many' ? code : 'forged', message);
  }
}
