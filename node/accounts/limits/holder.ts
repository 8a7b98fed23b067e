/** What kinds there are of those who answer for a call. `operator`: who may write into the node's home. `none`: not known yet. */
export const HOLDER_KINDS = ['account', 'address', 'member', 'none', 'operator', 'wallet'] as const;

export type HolderKind = (typeof HOLDER_KINDS)[number];

/** Who answers for what a call costs. */
export interface Holder {
  readonly kind: HolderKind;
  /** Of the account, the wallet or the member; the address, of IPv6 its /64. Never a key. */
  readonly id: string;
}

export const NO_HOLDER: Holder = { kind: 'none', id: '' };
export const OPERATOR: Holder = { kind: 'operator', id: '' };
