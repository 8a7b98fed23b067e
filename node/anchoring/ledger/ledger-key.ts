import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { decodeHex } from '../../../protocol/bytes.ts';
import { type AnchoringConfig, LedgerConfigError } from './config.ts';
import { loadSdk, type PublicKey, type Sdk } from './hedera-sdk.ts';

/** A key that signs ledger transactions. */
export interface LedgerKey {
  readonly publicKey: PublicKey;
  sign(body: Uint8Array): Promise<Uint8Array>;
}

const SEED_BYTES = 32;
/** DER headers of an Ed25519 PKCS #8 private key and of a SubjectPublicKeyInfo (RFC 8410). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEADER_BYTES = 12;

const FORMS = 'a ledger key is 32 bytes of Ed25519 seed or a DER private key, in hex';

const signOffThread = promisify(sign);

/**
 * Throws `LedgerConfigError` naming the variable that holds no key in one of the forms of `AnchoringConfig`. Loads the
 * SDK only for what is not Ed25519.
 */
export async function requireLedgerKeys({
  operatorKey: LEDGER_OPERATOR_KEY,
  submitKey: LEDGER_SUBMIT_KEY,
}: Pick<AnchoringConfig, 'operatorKey' | 'submitKey'>): Promise<void> {
  for (const [variable, hex] of Object.entries({ LEDGER_OPERATOR_KEY, LEDGER_SUBMIT_KEY })) {
    if (hex === undefined) continue;
    try {
      if (ed25519Seed(hex) === null) ecdsaKey(await loadSdk(), hex);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new LedgerConfigError(`${variable}: ${error.message}`);
    }
  }
}

/**
 * Reads a key in the forms of `AnchoringConfig`. Ed25519 signs natively, a thousand times faster than the SDK does;
 * ECDSA needs Keccak and is left to the SDK. Throws `TypeError` on anything else, without the key in the message.
 */
export function readLedgerKey(sdk: Sdk, hex: string): LedgerKey {
  const seed = ed25519Seed(hex);
  return seed === null ? ecdsaKey(sdk, hex) : ed25519Key(sdk, seed);
}

/** Null where it has another form. Throws `TypeError` where it is no hex. */
function ed25519Seed(hex: string): Uint8Array | null {
  const bytes = bytesOf(hex);
  if (bytes.length === SEED_BYTES) return bytes;
  if (bytes.length !== PKCS8_HEADER.length + SEED_BYTES) return null;
  return PKCS8_HEADER.equals(bytes.subarray(0, PKCS8_HEADER.length)) ? bytes.subarray(PKCS8_HEADER.length) : null;
}

function bytesOf(hex: string): Uint8Array {
  try {
    return decodeHex(hex.toLowerCase());
  } catch {
    throw new TypeError(FORMS);
  }
}

function ed25519Key(sdk: Sdk, seed: Uint8Array): LedgerKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_HEADER_BYTES);
  return { publicKey: sdk.PublicKey.fromBytesED25519(raw), sign: (body) => signOffThread(null, body, key) };
}

function ecdsaKey(sdk: Sdk, hex: string): LedgerKey {
  try {
    const key = sdk.PrivateKey.fromStringDer(hex.toLowerCase());
    return { publicKey: key.publicKey, sign: async (body) => key.sign(body) };
  } catch {
    throw new TypeError(FORMS);
  }
}
