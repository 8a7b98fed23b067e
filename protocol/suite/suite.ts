import type { Hashable } from '../bytes.ts';
import type { Sha256Hash } from '../hash.ts';

/** ML-DSA context strings (FIPS 204 §5.2): one per kind of statement, so no signature can stand for another kind. */
export type SigningContext =
  | 'meridian/group/1'
  | 'meridian/batch/1'
  | 'meridian/checkpoint/1'
  | 'meridian/key/1'
  | 'meridian/revocation/1'
  | 'meridian/roster/1'
  | 'meridian/agent/1'
  | 'meridian/agent-proof/1'
  | 'meridian/pack/1';

/** FIPS 204 table 2, ML-DSA-65, in bytes. */
export const PUBLIC_KEY_BYTES = 1952;
export const SIGNATURE_BYTES = 3309;
export const SEED_BYTES = 32;

/** A text with its signature as unpadded base64url. */
export interface SignedText {
  readonly statement: string;
  readonly signature: string;
}

/**
 * The hashing and signature checking that `protocol/` needs. Pure and synchronous. `protocol/suite/noble.ts` runs
 * anywhere; a node injects a native one. Every implementation gives the same answers on the same bytes.
 */
export interface Suite {
  readonly name: string;
  /** SHA-256 of the concatenation of the parts: 32 bytes. */
  sha256(...parts: readonly Hashable[]): Uint8Array;
  /**
   * The same digest as 64 lower-case hex digits: the form that statements carry, and the faster one to make natively.
   */
  sha256Hex(...parts: readonly Hashable[]): string;
  /** SHA-384 of the concatenation of the parts: 48 bytes. */
  sha384(...parts: readonly Hashable[]): Uint8Array;
  /** ML-DSA-65 verification (FIPS 204 algorithm 3). False, never a throw, on keys or signatures of a wrong length. */
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array, context: SigningContext): boolean;
  /**
   * The same on a text and its signature as they travel, where the suite remembers what held: it reads neither again
   * then. False, never a throw, on a signature that is no base64url and a text that is no Unicode.
   */
  readonly holds?: (publicKey: Uint8Array, signed: SignedText, context: SigningContext) => boolean;
}

/** SHA-256 of bytes that come one after the other, for files that no memory holds whole. */
export interface RunningHash {
  update(bytes: Uint8Array): void;
  /** 64 lower-case hex digits. To be asked once, at the end. */
  hex(): string;
}

/** A private ML-DSA-65 key that signs. `keyId` is the hash of the raw public key. */
export interface Signer {
  readonly keyId: Sha256Hash;
  readonly publicKey: Uint8Array;
  /** 3309 bytes, hedged (FIPS 204 algorithm 2). */
  sign(message: Uint8Array, context: SigningContext): Promise<Uint8Array>;
}
