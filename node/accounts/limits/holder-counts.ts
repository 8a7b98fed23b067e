import { Held } from '../../concurrency/held.ts';

/**
 * What kinds there are of those who answer for a call. `operator`: who may write into the node's home. `none`: not
 * known yet.
 */
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

/** How much of something each holder has, until it gives it back: a holder that has nothing takes no memory. */
export class HolderCounts {
  readonly #counts = new Map<string, number>();

  /** Holders that have anything. */
  get size(): number {
    return this.#counts.size;
  }

  of(holder: string): number {
    return this.#counts.get(holder) ?? 0;
  }

  /** So much more, until it is disposed; disposing it again changes nothing. */
  add(holder: string, amount = 1): Disposable {
    this.#counts.set(holder, this.of(holder) + amount);
    return new Held(() => this.#take(holder, amount));
  }

  #take(holder: string, amount: number): void {
    const left = this.of(holder) - amount;
    if (left === 0) this.#counts.delete(holder);
    else this.#counts.set(holder, left);
  }
}
