import type { Hex } from 'viem';
import type { ChecksummedAddress } from './evm-address.ts';

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
