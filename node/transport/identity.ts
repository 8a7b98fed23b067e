import { generateKeyPairFromSeed } from '@libp2p/crypto/keys';
import { peerIdFromPrivateKey } from '@libp2p/peer-id';
import type { Ed25519PrivateKey } from '@libp2p/interface';

const SEED_BYTES = 32;

/**
 * The private key that stands behind a peer identity.
 * @throws RangeError for a seed that is not 32 bytes
 */
export async function peerKeyOfSeed(seed: Uint8Array): Promise<Ed25519PrivateKey> {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a peer seed has ${SEED_BYTES} bytes, not ${seed.length}`);
  return await generateKeyPairFromSeed('Ed25519', seed);
}

/** The peer id, as the roster names it, of a 32-byte Ed25519 seed. */
export async function peerIdOfSeed(seed: Uint8Array): Promise<string> {
  return peerIdFromPrivateKey(await peerKeyOfSeed(seed)).toString();
}
