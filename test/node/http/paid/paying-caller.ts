import type { JsonObject } from '../../../../protocol/json/value.ts';
import { priceOf, SERVICES, type ServiceName } from '../../../../protocol/payments/prices.ts';
import { paymentHeader } from '../../../fixtures/payment-header.ts';
import type { TestChain } from '../../../fixtures/chain.ts';
import type { HttpAnswer, TestNode } from '../../../fixtures/test-node.ts';

/** Calls one paid endpoint of a node, with payments that can be shown more than once. */
export class PayingCaller {
  readonly price: bigint;
  readonly path: string;
  readonly #chain: TestChain;
  readonly #node: TestNode;
  readonly #service: ServiceName;

  constructor(chain: TestChain, node: TestNode, service: ServiceName) {
    this.#chain = chain;
    this.#node = node;
    this.#service = service;
    this.path = SERVICES[service].path;
    this.price = BigInt(priceOf(service));
  }

  /** A payment by a wallet of its own. */
  async payment(): Promise<string> {
    const chain = this.#chain;
    return paymentHeader(await chain.wallet(), chain.payTo, this.#service, this.#node.baseUrl + this.path);
  }

  post(payment: string, body: JsonObject, signal?: AbortSignal): Promise<HttpAnswer> {
    return this.#node.post(this.path, body, {
      key: null,
      headers: { 'payment-signature': payment },
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** What the payee has more after some work. */
  async earned(work: () => Promise<void>): Promise<bigint> {
    const before = await this.#chain.balanceOf(this.#chain.payTo);
    await work();
    return (await this.#chain.balanceOf(this.#chain.payTo)) - before;
  }
}
