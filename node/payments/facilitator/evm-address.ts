import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeHex, utf8 } from '../../../protocol/bytes.ts';
import type { WalletAddress } from '../../../protocol/payments/payment.ts';

/** An address as EIP-55 writes it: the case of its letters is a checksum. */
export type ChecksummedAddress = `0x${string}`;

const HIGH_HALF = 8;

export function checksummed(address: WalletAddress): ChecksummedAddress {
  const digits = address.slice(2);
  const hash = encodeHex(keccak_256(utf8(digits)));
  const cased = [...digits].map((digit, i) =>
    Number.parseInt(hash.charAt(i), 16) >= HIGH_HALF ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}
