import { decodeBase64url } from '../../../protocol/bytes.ts';
import { type CertifiedKey, isSame } from '../../../protocol/chain/certified-keys.ts';
import { hashParts, hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { keyCertificateStatement } from '../../../protocol/keys/certificate.ts';
import { KeyDirectory } from '../../../protocol/keys/key-directory.ts';
import { KeyError, type KeyFault } from '../../../protocol/keys/key-error.ts';
import type { KnownRevocation } from '../../../protocol/keys/known-revocations.ts';
import type { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { isRevocationNamed } from '../../../protocol/log/in-force.ts';
import type { Revocation } from '../../../protocol/log/revocation.ts';
import { hasMember } from '../../../protocol/log/roster.ts';
import { type SignedStatement, SignedStatementShape } from '../../../protocol/statement/statement.ts';
import { checkedSuite, nativeSuite } from '../../keys/native-suite.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { jsonTable } from '../../store/table.ts';
import { CurrentRosters, type RosterSource } from './current-rosters.ts';
import { PeerStatementError } from './peer-statement-error.ts';

/** (node, key id, hash of the identity key that signed it) → key certificate. */
export const certificateTable = jsonTable('certificate', SignedStatementShape);
/** (node, key id, hash of the text) → revocation. */
export const revocationTable = jsonTable('revocation', SignedStatementShape);

/** Key parts of a certificate's row. */
export function certificateParts({ certificate: { node, keyId }, identityKey }: CertifiedKey): readonly string[] {
  return [node, keyId, hashParts(nativeSuite, decodeBase64url(identityKey))];
}

/** Key parts of a revocation's row. */
export function revocationParts({ revocation: { node, keyId }, hash }: KnownRevocation): readonly string[] {
  return [node, keyId, hash];
}

/**
 * The federation as this node knows it: who belongs to it and which keys speak for whom. Everything in it was checked.
 * The text of a revocation that the ledger names is kept for good.
 */
export class FederationKeys {
  readonly #store: Store;
  readonly #log: Pick<RosterSource, 'state'>;
  readonly currentRosters: CurrentRosters;
  readonly directory: KeyDirectory;
  /** Of members whose statements have not changed since. */
  readonly #digests = new Map<NodeId, Sha256Hash>();
  readonly #certificateListeners = new Set<(node: NodeId) => void>();
  readonly #revocationListeners = new Set<(revocation: Revocation) => void>();

  private constructor(store: Store, log: Pick<RosterSource, 'state'>, currentRosters: CurrentRosters) {
    this.#store = store;
    this.#log = log;
    this.currentRosters = currentRosters;
    this.directory = new KeyDirectory(
      checkedSuite,
      () => currentRosters.chain,
      (known) => this.#isNamed(known),
    );
  }

  /**
   * Opens with the rosters of the log and those that the node was given, and all certificates kept. Throws `KeyError`
   * where a stored one does not read, `LogDamagedError` where the text of a roster is missing.
   */
  static async open(store: Store, log: RosterSource, given: RosterChain): Promise<FederationKeys> {
    const keys = new FederationKeys(store, log, await CurrentRosters.open(log, given));
    for await (const [, signed] of certificateTable.under(store, [])) {
      passingOver(() => keys.directory.addCertificate(signed));
    }
    for await (const [, signed] of revocationTable.under(store, [])) {
      passingOver(() => keys.directory.addRevocation(signed));
    }
    return keys;
  }

  /** The newest rosters that this node knows. */
  get rosters(): RosterChain {
    return this.currentRosters.chain;
  }

  isMember(node: NodeId): boolean {
    return hasMember(this.rosters.current, node);
  }

  /**
   * Checks and keeps a certificate, with rows that hold when it does. Returns whether it changed anything. Throws
   * `PeerStatementError`.
   */
  async learnCertificate(signed: SignedStatement, besides: readonly Operation[] = []): Promise<boolean> {
    const added = peerFault(() => this.directory.addCertificate(signed));
    // What memory has and a write that failed has not is written when it comes again.
    const key = added ?? this.#unwritten(signed);
    if (key === undefined) return false;
    const { node } = key.certificate;
    this.#digests.delete(node);
    const parts = certificateParts(key);
    if ((await certificateTable.get(this.#store, ...parts))?.statement === signed.statement) return false;
    await this.#store.write([certificateTable.put(parts, signed), ...besides]);
    for (const listener of this.#certificateListeners) listener(node);
    return true;
  }

  /** The same for a revocation. */
  async learnRevocation(signed: SignedStatement, besides: readonly Operation[] = []): Promise<boolean> {
    const { known, dropped } = peerFault(() => this.directory.addRevocation(signed));
    const { revocation } = known;
    this.#digests.delete(revocation.node);
    const parts = revocationParts(known);
    if ((await revocationTable.get(this.#store, ...parts)) !== undefined) return false;
    const gone = dropped === null ? [] : [revocationTable.del(...revocationParts(dropped))];
    await this.#store.write([revocationTable.put(parts, known.signed), ...gone, ...besides]);
    for (const listener of this.#revocationListeners) listener(revocation);
    return true;
  }

  /** Calls `listener` with the node of every certificate that is new. Returns what ends that. */
  onCertificate(listener: (node: NodeId) => void): () => void {
    this.#certificateListeners.add(listener);
    return () => this.#certificateListeners.delete(listener);
  }

  /** Public key of that id, where `node` has certified it for records from `first` on or earlier ones. */
  publicKeyOf(node: NodeId, keyId: Sha256Hash, first: number): Uint8Array | undefined {
    return this.directory.covering(node, keyId, first, this.rosters.identityKeys(node))?.publicKey;
  }

  /** Calls `listener` with every revocation that is new. Returns what ends that. */
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
    const { directory } = this;
    const of = nodes ?? this.rosters.nodes;
    return {
      certificates: of.flatMap((node) => directory.of(node).map(({ signed }) => signed)),
      revocations: of.flatMap((node) => directory.revocationsOf(node).map(({ signed }) => signed)),
    };
  }

  /** Whether a revocation of the node is in force whose text is not here. */
  lacksRevocation(node: NodeId): boolean {
    const revoked = this.#log.state.revoked[node] ?? {};
    const known = new Set(this.directory.revocationsOf(node).map(({ hash }) => hash));
    return Object.values(revoked).some((decided) => decided.some(({ statement }) => !known.has(statement)));
  }

  #isNamed({ revocation: { node, keyId }, hash: statement }: KnownRevocation): boolean {
    return isRevocationNamed(this.#log.state, { node, keyId, statement });
  }

  /** The key as it is kept, where this is the certificate that it is kept by. */
  #unwritten(signed: SignedStatement): CertifiedKey | undefined {
    const { node, keyId } = keyCertificateStatement.parse(signed.statement);
    return this.directory.certificates(node, keyId).find((key) => isSame(key.signed, signed));
  }
}

/** Why a statement that was checked when it was kept may have no place now. */
const PASSED_OVER: ReadonlySet<KeyFault> = new Set([
  // By an identity key, or of a node, that only a roster named which the log did not come to, or which is given no
  // more.
  'certificate-unsigned',
  'revocation-unsigned',
  'unknown-member',
  // The ledger named it when it came, and the names fell.
  'too-many',
]);

/** Passes over what has no place: whoever can bring that about must not keep this node from starting. */
function passingOver(add: () => unknown): void {
  try {
    add();
  } catch (error) {
    if (!(error instanceof KeyError && PASSED_OVER.has(error.code))) throw error;
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
