import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hex } from 'viem';
import { encodeHex, utf8 } from '../../../protocol/bytes.ts';
import type { WalletAddress } from '../../../protocol/payments/payment.ts';

/**
 * Accounts of the mnemonic that every development chain hands out (`test test test … junk`), in lower case. Their keys
 * are public: what they hold is anyone's.
 */
const PUBLIC_WALLETS: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
]);

/** Whether the key of an account is public knowledge. */
export function isPublicWallet(address: string): boolean {
  return PUBLIC_WALLETS.has(address.toLowerCase());
}

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
