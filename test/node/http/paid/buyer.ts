import type { PrivateKeyAccount } from 'viem';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { TestChain } from '../../../fixtures/chain.ts';
import { payingFetch } from '../../../fixtures/chain-payer.ts';

export interface Bought {
  readonly status: number;
  readonly body: JsonObject;
  /** What the payee has more, in atomic units. */
  readonly gain: bigint;
}

/** Buys with the stock client, and looks at the payee's balance before and after. */
export class Buyer {
  readonly #chain: TestChain;
  readonly #wallet: PrivateKeyAccount;

  constructor(chain: TestChain, wallet: PrivateKeyAccount) {
    this.#chain = chain;
    this.#wallet = wallet;
  }

  get(url: string): Promise<Bought> {
    return this.#buy(url, {});
  }

  post(url: string, body: JsonObject): Promise<Bought> {
    const headers = { 'content-type': 'application/json' };
    return this.#buy(url, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async #buy(url: string, request: RequestInit): Promise<Bought> {
    const before = await this.#chain.balanceOf(this.#chain.payTo);
    const answer = await payingFetch(this.#wallet)(url, request);
    const body: unknown = await answer.json();
    const gain = (await this.#chain.balanceOf(this.#chain.payTo)) - before;
    return { status: answer.status, body: Object(body), gain };
  }
}
