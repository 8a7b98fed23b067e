import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PrivateKeyAccount } from 'viem';
import type { FeedFilter, FeedItem } from '../../../../node/services/regulatory-feed/reg-feed.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { regwatchCommand } from '../../../../scripts/regwatch/command.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { payingFetch } from '../../../fixtures/chain-payer.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { TestNode } from '../../../fixtures/test-node.ts';
import { rss } from '../../services/regulatory-feed/documents.ts';

export const FEED_PATH = '/v1/x402/regwatch-feed';

/** A node with a till, its regulatory feed, and someone who pays. */
export class RegwatchFixture implements AsyncDisposable {
  readonly node: TestNode;
  readonly #chain: TestChain;
  readonly #network: TestNetwork;
  readonly #wallet: PrivateKeyAccount;

  private constructor(chain: TestChain, network: TestNetwork, wallet: PrivateKeyAccount) {
    this.node = network.node();
    this.#chain = chain;
    this.#network = network;
    this.#wallet = wallet;
  }

  static async open(): Promise<RegwatchFixture> {
    const chain = await TestChain.start();
    const network = await TestNetwork.start({ config: { payments: chain.config() } });
    return new RegwatchFixture(chain, network, await chain.wallet());
  }

  /** What a paying client gets, and what the payee then has more. */
  async buy(query = ''): Promise<{ status: number; body: JsonObject; gain: bigint }> {
    const before = await this.#chain.balanceOf(this.#chain.payTo);
    const answer = await payingFetch(this.#wallet)(this.node.baseUrl + FEED_PATH + query);
    const body: unknown = await answer.json();
    const gain = (await this.#chain.balanceOf(this.#chain.payTo)) - before;
    return { status: answer.status, body: isJsonObject(body) ? body : {}, gain };
  }

  /** All pages. */
  async items(filter: FeedFilter = {}): Promise<readonly FeedItem[]> {
    const { regFeed } = this.node.context;
    const items: FeedItem[] = [];
    for (let page = await regFeed.page(filter, 100); ;) {
      items.push(...page.items);
      if (page.next === undefined) return items;
      page = await regFeed.page(filter, 100, page.next);
    }
  }

  /** The `regwatch` command on the node, and what it printed. */
  async command(...args: readonly string[]): Promise<{ exit: number; out: string; err: string }> {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
    const exit = await regwatchCommand([...args, '--home', this.node.config.home], terminal);
    return { exit, out: out.join('\n'), err: err.join('\n') };
  }

  /** A file of the node's machine; text as it is, anything else as JSON. */
  async file(name: string, content: JsonValue): Promise<string> {
    const path = join(this.node.config.home, name);
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#network[Symbol.asyncDispose]();
    await this.#chain[Symbol.asyncDispose]();
  }
}

export function itemsOf({ items }: JsonObject): readonly JsonObject[] {
  const list: JsonValue = items ?? [];
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

export function titlesOf(items: readonly FeedItem[]): string[] {
  return items.map(({ revision }) => revision.content.title);
}

/** Items of a feed whose identities are numbers, from `from` to before `to`. */
export function numberedItems(from: number, to: number, word = 'Item'): string[] {
  return Array.from({ length: to - from }, (_, i) => `<title>${word} ${from + i}</title><guid>${from + i}</guid>`);
}

export function numbered(from: number, to: number, word = 'Item'): string {
  return rss(...numberedItems(from, to, word));
}
