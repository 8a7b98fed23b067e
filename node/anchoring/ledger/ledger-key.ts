import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { decodeHex } from '../../../protocol/bytes.ts';
import type { PublicKey, Sdk } from './hedera-sdk.ts';

/** A key that signs ledger transactions. */
export interface LedgerKey {
  readonly publicKey: PublicKey;
  sign(body: Uint8Array): Promise<Uint8Array>;
}

const SEED_BYTES = 32;
/** DER headers of an Ed25519 PKCS #8 private key and of a SubjectPublicKeyInfo (RFC 8410). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEADER_BYTES = 12;

const signOffThread = promisify(sign);

/**
 * Reads a key in the forms of `AnchoringConfig`. Ed25519 signs natively, a thousand times faster than the SDK does;
 * ECDSA needs Keccak and is left to the SDK. Throws on anything else, without the key in the message.
 */
export function readLedgerKey(sdk: Sdk, hex: string): LedgerKey {
  const bytes = decodeHex(hex);
  if (bytes.length === SEED_BYTES) return ed25519Key(sdk, bytes);
  if (
    bytes.length === PKCS8_HEADER.length + SEED_BYTES &&
    PKCS8_HEADER.equals(bytes.subarray(0, PKCS8_HEADER.length))
  ) {
    return ed25519Key(sdk, bytes.subarray(PKCS8_HEADER.length));
  }
  return ecdsaKey(sdk, hex);
}

function ed25519Key(sdk: Sdk, seed: Uint8Array): LedgerKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_HEADER_BYTES);
  return { publicKey: sdk.PublicKey.fromBytesED25519(raw), sign: (body) => signOffThread(null, body, key) };
}

function ecdsaKey(sdk: Sdk, hex: string): LedgerKey {
  try {
    const key = sdk.PrivateKey.fromStringDer(hex);
    return { publicKey: key.publicKey, sign: async (body) => key.sign(body) };
  } catch {
    throw new TypeError('a ledger key is 32 bytes of Ed25519 seed or a DER private key, in lower-case hex');
  }
}
