import { randomFillSync } from 'node:crypto';

/** One system call fills many small requests: salts, data keys and ids cost well under a microsecond each. */
const POOL_BYTES = 16_384;

let pool = Buffer.alloc(0);
let used = 0;

/** Fresh random bytes from the system's generator. Never handed out twice; a used-up pool is dropped, not refilled. */
export function randomBytesPooled(length: number): Uint8Array {
  if (used + length > pool.length) {
    pool = randomFillSync(Buffer.allocUnsafeSlow(Math.max(POOL_BYTES, length)));
    used = 0;
  }
  used += length;
  return pool.subarray(used - length, used);
}
