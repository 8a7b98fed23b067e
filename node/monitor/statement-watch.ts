import { decodeBase64url } from '../../protocol/bytes.ts';
import { CertificateError, type CertifiedKey, CertifiedKeys } from '../../protocol/chain/certified-keys.ts';
import { hashText, isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import { isNodeId, type NodeId } from '../../protocol/ids.ts';
import { keyCertificateStatement } from '../../protocol/keys/certificate.ts';
import { rosterInForce } from '../../protocol/log/decision-state.ts';
import { type Revocation, revocationStatement } from '../../protocol/log/revocation.ts';
import { type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import { signatureHolds, type SignedStatement, StatementError } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { type FederationLog, LogDamagedError } from '../log/federation-log.ts';

/** A revocation that the log put in force. */
export interface RevocationInForce {
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  readonly statement: Sha256Hash;
  /** Place of its decision. */
  readonly index: number;
  /** Null until a node shows its text. */
  readonly shown: { readonly value: Revocation; readonly signed: SignedStatement } | null;
}

/** Revocations kept that the log has not put in force. */
const MAX_PENDING = 1_024;

/**
 * Who belongs to the federation by the log's own decisions, and which keys speak for whom: certificates and revocations
 * as nodes show them, each judged by the identity keys of the rosters that came into force.
 */
export class StatementWatch {
  readonly #log: FederationLog;
  readonly #certified = new CertifiedKeys(nativeSuite);
  readonly #revocations = new Map<Sha256Hash, { readonly value: Revocation; readonly signed: SignedStatement }>();
  /** By hash, of the rosters in force so far. */
  readonly #rosters = new Map<Sha256Hash, Roster>();
  #lacksKeys = true;

  private constructor(log: FederationLog) {
    this.#log = log;
  }

  /** Throws `LogDamagedError` where the text of a roster in force is missing. */
  static async open(log: FederationLog): Promise<StatementWatch> {
    const watch = new StatementWatch(log);
    await watch.followLog();
    return watch;
  }

  /** The roster in force by the log as it was read. */
  get roster(): Roster {
    const roster = this.#rosters.get(rosterInForce(this.#log.state));
    if (roster === undefined) throw new LogDamagedError('the text of the roster in force is missing');
    return roster;
  }

  get rosters(): readonly Roster[] {
    return [...this.#rosters.values()];
  }

  get certificates(): CertifiedKeys {
    return this.#certified;
  }

  /** Whether a signature was by a key that no certificate is known of; asking resets it. */
  takeLackOfKeys(): boolean {
    const lacks = this.#lacksKeys;
    this.#lacksKeys = false;
    return lacks;
  }

  /** The log has grown. Returns rosters that came into force since the last call. */
  async followLog(): Promise<readonly Roster[]> {
    const added: Roster[] = [];
    for (const { hash } of this.#log.state.rosters) {
      if (this.#rosters.has(hash)) continue;
      const text = await this.#log.rosterText(hash);
      if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
      const roster = rosterStatement.parse(text);
      this.#rosters.set(hash, roster);
      added.push(roster);
    }
    return added;
  }

  /** Identity keys that any roster in force so far named for a node, the newest first. */
  identityKeys(node: NodeId): readonly Base64url[] {
    const named = this.rosters.flatMap(({ members }) => members.filter((member) => member.node === node));
    return [...new Set(named.map(({ identityKey }) => identityKey))].toReversed();
  }

  /** Whether the certificate may hold: those of nodes that no roster in force named so far are passed over. */
  learnCertificate(signed: SignedStatement): boolean {
    try {
      this.#certified.add(signed, (node) => this.identityKeys(node));
      return true;
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      return error.code === 'too-many' || this.#isOfStranger(signed);
    }
  }

  /** Whether the revocation may hold, likewise. */
  learnRevocation(signed: SignedStatement): boolean {
    const hash = hashText(nativeSuite, signed.statement);
    if (this.#revocations.has(hash)) return true;
    const value = readRevocation(signed.statement);
    if (value === null) return false;
    if (this.identityKeys(value.node).length === 0) return true;
    const holds = this.identityKeys(value.node).some((key) =>
      signatureHolds(nativeSuite, revocationStatement, signed, decodeBase64url(key)),
    );
    const isKept = this.#inForce(value.node, value.keyId, hash) || this.#revocations.size < MAX_PENDING;
    if (holds && isKept) this.#revocations.set(hash, { value, signed });
    return holds;
  }

  /** Every revocation in force, in order of node and key. */
  revocationsInForce(): readonly RevocationInForce[] {
    return Object.entries(this.#log.state.revoked).flatMap(([node, keys]) =>
      Object.keys(keys).flatMap((keyId) =>
        isNodeId(node) && isSha256Hash(keyId) ? this.revocationsOf(node, keyId) : [],
      ),
    );
  }

  /** Those of one key. */
  revocationsOf(node: NodeId, keyId: Sha256Hash): readonly RevocationInForce[] {
    return (this.#log.state.revoked[node]?.[keyId] ?? []).map(({ statement, index }) => {
      return { node, keyId, statement, index, shown: this.#revocations.get(statement) ?? null };
    });
  }

  /**
   * The key of that id by which a node signs, certified for the record `first` or for any (0); undefined where no
   * certificate of it is known here.
   */
  signingKey(node: NodeId, keyId: Sha256Hash, first: number): CertifiedKey | undefined {
    const seq = first === 0 ? Number.MAX_SAFE_INTEGER : first;
    const key = this.#certified.covering(node, keyId, seq, this.identityKeys(node));
    if (key === undefined) this.#lacksKeys = true;
    return key;
  }

  #isOfStranger({ statement }: SignedStatement): boolean {
    try {
      return this.identityKeys(keyCertificateStatement.parse(statement).node).length === 0;
    } catch (error) {
      if (error instanceof StatementError) return false;
      throw error;
    }
  }

  #inForce(node: NodeId, keyId: Sha256Hash, statement: Sha256Hash): boolean {
    return this.#log.state.revoked[node]?.[keyId]?.some((one) => one.statement === statement) === true;
  }
}

function readRevocation(text: string): Revocation | null {
  try {
    return revocationStatement.parse(text);
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}
