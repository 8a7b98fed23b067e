import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hex } from 'viem';
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

/** How this node is paid. */
export interface PaymentsConfig {
  /** JSON-RPC of the chain. A secret: providers put keys into it. */
  readonly rpcUrl: string;
  /** Account that payments go to. Nodes that share a facilitator service must not share it. */
  readonly payTo: ChecksummedAddress;
  readonly facilitator: FacilitatorConfig;
}

export type FacilitatorConfig =
  /** This node settles by itself, from an account of its own that holds a little ether for fees. */
  | { readonly kind: 'in-process'; readonly key: Hex }
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };
