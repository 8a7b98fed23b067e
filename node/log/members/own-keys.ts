import type { Logger } from 'pino';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { type KeyCertificate, keyCertificateStatement } from '../../../protocol/keys/certificate.ts';
import type { NamedStatement } from '../../../protocol/log/naming.ts';
import { type Revocation, revocationStatement } from '../../../protocol/log/revocation.ts';
import { encodeSignature, type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { NextKey } from '../../keys/next-key.ts';
import { certifySigningKey } from '../../keys/node-keys.ts';
import type { SigningKey } from '../../keys/signing-key.ts';
import type { Operation } from '../../store/operation.ts';
import type { FederationKeys } from './federation-keys.ts';

/** `unknown-key`: this node never certified it. `in-future`: a time that has not come yet. */
export type OwnKeyFault = 'unknown-key' | 'in-future';

/** A signing key of this node cannot be dealt with as asked. */
export class OwnKeyError extends Error {
  override readonly name = 'OwnKeyError';
  readonly fault: OwnKeyFault;

  constructor(fault: OwnKeyFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

export interface OwnKeysOptions {
  readonly node: NodeId;
  readonly identity: Signer;
  /** The key of the home's signing file. */
  readonly signer: Signer;
  readonly signing: SigningKey;
  readonly nextKey: NextKey;
  readonly keys: Pick<FederationKeys, 'directory' | 'learnCertificate' | 'learnRevocation' | 'onRevocation'>;
  /**
   * First record that is in no decided batch: a batch must begin where its key's certificate does, or later, and what
   * is undecided may have to be signed again.
   */
  readonly undecidedFrom: () => Promise<number>;
  /** The row that has a revocation named on the ledger. It lands in the write that keeps the statement. */
  readonly anchorEntry: (statement: NamedStatement, at: Timestamp) => Operation;
  /** A statement is on the disk: peers, and of a revocation the ledger, are to hear of it. May not throw. */
  readonly onStatement: (type: 'certificate' | 'revocation', signed: SignedStatement) => void;
  /** Another key signs from now on. */
  readonly onRotated: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

/** What a revocation came to. */
export interface RevocationOutcome {
  /** The one that stands: of several for a key that of the earliest compromise. */
  readonly revocation: Revocation;
  /** The key that signs in its place; null where it was not in use. */
  readonly replacedBy: Sha256Hash | null;
}

/** Pause before another attempt to replace a revoked key. In milliseconds. */
const RETRY_MS = 5_000;
const LOCK_KEY = 'keys';

/**
 * The signing keys of this node: certified by its identity key before they sign, replaced while it runs, revoked when
 * they leaked. A key that somebody revoked elsewhere, with this node's identity key, is replaced at once.
 *
 * Crash order of a rotation: key file, certificate, file in the place of the old one, use. Of a revocation: the
 * rotation first, so that at no moment the node is without a key that counts.
 */
export class OwnKeys implements AsyncDisposable {
  readonly #options: OwnKeysOptions;
  readonly #locks = new KeyedLock<typeof LOCK_KEY>();
  readonly #stopListening: () => void;
  readonly #closing = new AbortController();
  #settled = false;
  #retry: NodeJS.Timeout | undefined;
  #replacing: Promise<void> = Promise.resolve();

  constructor(options: OwnKeysOptions) {
    this.#options = options;
    this.#stopListening = options.keys.onRevocation((revocation) => this.#onRevocation(revocation));
  }

  /**
   * Makes sure that a certified key signs: ends a rotation that a crash cut short, certifies the key of a new home,
   * replaces one that was revoked. Call before anything is signed, once the end of the own chain is known.
   */
  settle(): Promise<void> {
    return this.#locks.exclusive(LOCK_KEY, async () => {
      const { signer, signing, keys, node } = this.#options;
      // A key that was revoked before this call is out of use already.
      if (!(await this.#finishRotation()) && signing.keyId === signer.keyId) await this.#certifyAndUse(signer);
      this.#settled = true;
      if (keys.directory.revocation(node, signing.keyId) !== undefined) await this.#rotate();
    });
  }

  /** The key that signs. */
  get keyId(): Sha256Hash {
    return this.#options.signing.keyId;
  }

  /** Replaces the signing key. What is being signed meanwhile is signed by the old one, which stays good. */
  rotate(): Promise<KeyCertificate> {
    return this.#locks.exclusive(LOCK_KEY, () => this.#rotate());
  }

  /**
   * Withdraws one of this node's signing keys: what it signed counts where it reached consensus before
   * `compromisedSince`, as far as a revocation reaches, and all of it where that is null: then the key is rotated. The key
   * in use is replaced first. `note` goes to the log alone. Throws `OwnKeyError`.
   */
  revoke(keyId: Sha256Hash, compromisedSince: Timestamp | null, note: string): Promise<RevocationOutcome> {
    return this.#locks.exclusive(LOCK_KEY, async () => {
      const { node, identity, signing, keys, anchorEntry, onStatement, now, log } = this.#options;
      const issuedAt = timestampOf(now());
      if (keys.directory.get(node, keyId) === undefined) {
        throw new OwnKeyError('unknown-key', `${node} has certified no key ${keyId}`);
      }
      if (compromisedSince !== null && compromisedSince > issuedAt) {
        throw new OwnKeyError('in-future', 'a key is not compromised in the future');
      }
      const replacedBy = keyId === signing.keyId ? (await this.#rotate()).keyId : null;
      const reason = compromisedSince === null ? 'rotated' : 'compromised';
      const revocation: Revocation = { v: 2, type: 'revocation', node, keyId, compromisedSince, reason, issuedAt };
      const signed = await signStatement(revocationStatement, revocation, identity);
      const entry = anchorEntry({ type: 'revocation', text: signed.statement }, issuedAt);
      const standing = keys.directory.revocation(node, keyId)?.revocation;
      if (standing !== undefined && saysAsMuch(standing, revocation)) return { revocation: standing, replacedBy };
      await keys.learnRevocation(signed, [entry]);
      log.warn({ keyId, reason, compromisedSince, note }, 'a signing key was revoked');
      onStatement('revocation', signed);
      return { revocation, replacedBy };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#stopListening();
    await this.#replacing;
    clearTimeout(this.#retry);
    await this.#locks.exclusive(LOCK_KEY, async () => {});
  }

  async #rotate(): Promise<KeyCertificate> {
    const { nextKey, log, signing } = this.#options;
    const before = signing.keyId;
    if (!(await this.#finishRotation())) {
      const next = await nextKey.create();
      await this.#certify(next);
      await nextKey.promote();
      this.#use(next);
    }
    log.info({ before, keyId: signing.keyId }, 'another key signs from now on');
    // Before, the end of the own chain is not known, and what waits has to wait on.
    if (this.#settled) this.#options.onRotated();
    return this.#certificateOf(signing.keyId);
  }

  /** A key that was certified on its way into use goes into use; one that was not is forgotten. */
  async #finishRotation(): Promise<boolean> {
    const { node, nextKey, keys } = this.#options;
    const found = await nextKey.found();
    if (found === undefined || keys.directory.get(node, found.keyId) === undefined) {
      await nextKey.discard();
      return false;
    }
    await this.#certify(found);
    await nextKey.promote();
    this.#use(found);
    return true;
  }

  async #certifyAndUse(signer: Signer): Promise<void> {
    await this.#certify(signer);
    this.#use(signer);
  }

  /** The certificate is in the store when this resolves, also where only memory had it after a write that failed. */
  async #certify(signer: Signer): Promise<void> {
    const { node, identity, keys, undecidedFrom, onStatement, now } = this.#options;
    // Checkpoints are counted by the identity key of the roster that they are counted within: it has to have certified
    // it.
    const identityKey = encodeSignature(identity.publicKey);
    const certificates = keys.directory.certificates(node, signer.keyId);
    const standing = certificates.find((key) => key.identityKey === identityKey)?.signed;
    const first = await undecidedFrom();
    const certify = () => certifySigningKey(node, { identity, signer }, timestampOf(now()), first);
    const signed = standing ?? (await certify());
    if (await keys.learnCertificate(signed)) onStatement('certificate', signed);
  }

  #use(signer: Signer): void {
    this.#options.signing.use(signer, Date.parse(this.#certificateOf(signer.keyId).validFrom));
  }

  #certificateOf(keyId: Sha256Hash): KeyCertificate {
    const { node, keys } = this.#options;
    const key = keys.directory.get(node, keyId);
    if (key === undefined) throw new OwnKeyError('unknown-key', `${node} has certified no key ${keyId}`);
    return keyCertificateStatement.parse(key.signed.statement);
  }

  /** Somebody who holds this node's identity key revoked the key in use. */
  #onRevocation({ node, keyId }: Revocation): void {
    if (node !== this.#options.node || keyId !== this.#options.signing.keyId || !this.#settled) return;
    this.#options.log.error({ keyId }, 'the signing key in use was revoked; replacing it');
    this.#replace(keyId);
  }

  #replace(revoked: Sha256Hash): void {
    this.#replacing = this.#locks.exclusive(LOCK_KEY, async () => {
      if (this.#closing.signal.aborted || this.#options.signing.keyId !== revoked) return;
      try {
        await this.#rotate();
      } catch (error) {
        this.#options.log.error({ err: error, keyId: revoked }, 'a revoked key could not be replaced; trying again');
        this.#retry = setTimeout(() => this.#replace(revoked), RETRY_MS);
      }
    });
  }
}

/** Whether one revocation of a key leaves nothing for another to say. */
function saysAsMuch({ compromisedSince: standing }: Revocation, { compromisedSince: other }: Revocation): boolean {
  return other === null || (standing !== null && standing <= other);
}
