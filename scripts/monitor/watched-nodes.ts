import type { NodeId } from '../../protocol/ids.ts';
import type { Member } from '../../protocol/log/roster.ts';
import type { Alerts } from './alerts.ts';
import type { FederationView } from '../../node/federation/public-answers.ts';
import { PublicNode, PublicNodeError } from '../../node/federation/public-node.ts';

export interface WatchedNodesOptions {
  /** Addresses that are asked; null: those of the members of the roster in force. */
  readonly urls: readonly string[] | null;
  readonly alerts: Alerts;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Rounds in a row in which a node must fail before that is told. */
  readonly patience: number;
}

/** A node as it answered in this round. */
export interface AnsweringNode {
  readonly node: PublicNode;
  readonly view: FederationView;
}

/** What it shows does not hold: a lie, for no honest node shows it. */
export class FalseAnswerError extends Error {
  override readonly name = 'FalseAnswerError';
}

/** The nodes that are watched. What goes wrong with one is noted under its address and touches no other. */
export class WatchedNodes {
  readonly #options: WatchedNodesOptions;
  #nodes: readonly PublicNode[] = [];
  /** Rounds in a row in which a node failed, by address. */
  readonly #failures = new Map<string, number>();
  #failing = new Map<string, string>();
  #answering: readonly AnsweringNode[] = [];
  #offset = 0;
  #paced = false;

  constructor(options: WatchedNodesOptions) {
    this.#options = options;
  }

  /** The nodes that answered at the beginning of this round, another one first in each. */
  get answering(): readonly AnsweringNode[] {
    return this.#answering;
  }

  /** Whether a node was not asked all that there was to ask: so as not to burden it, or since it is slow. */
  get paced(): boolean {
    return this.#paced;
  }

  /** Begins a round: asks every node where it stands. */
  async begin(members: readonly Member[]): Promise<void> {
    this.#paced = false;
    this.#follow(members);
    const nodes = this.#nodes;
    const rotated = nodes.map((_, i) => nodes[(i + this.#offset) % nodes.length]).filter((node) => node !== undefined);
    this.#offset++;
    const answers = await Promise.all(
      rotated.map(async (node) => {
        node.beginPoll();
        const view = await this.ask(node, () => node.federation());
        return view === undefined ? [] : [{ node, view }];
      }),
    );
    this.#answering = answers.flat();
  }

  /**
   * The members whose nodes answered, each by one answer. Who a node is it says itself, but for a member's own address,
   * which the roster gives.
   */
  byMember(members: readonly Member[]): ReadonlyMap<NodeId, AnsweringNode> {
    const byUrl = new Map(members.map(({ node, baseUrl }) => [addressOf(baseUrl), node]));
    const found = new Map<NodeId, AnsweringNode>();
    for (const isOwn of [true, false]) {
      for (const answering of this.#answering) {
        const owner = byUrl.get(answering.node.url);
        if ((owner !== undefined) !== isOwn) continue;
        const node = owner ?? answering.view.node;
        if (!found.has(node)) found.set(node, answering);
      }
    }
    return found;
  }

  /** Ends the round: says which nodes failed for long enough. */
  end(): void {
    const { alerts, patience, now } = this.#options;
    for (const { url } of this.#nodes) {
      const failure = this.#failing.get(url);
      const failures = failure === undefined ? 0 : (this.#failures.get(url) ?? 0) + 1;
      this.#failures.set(url, failures);
      if (failure !== undefined && failures >= patience) alerts.see('node-failing', url, failure, now());
    }
    this.#failing = new Map();
  }

  /** Asks a node and works on its answer; undefined where it failed, or showed what does not hold. */
  async ask<Result>(node: PublicNode, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FalseAnswerError) this.lies(node, error.message);
      else if (error instanceof PublicNodeError) this.#note(node, error);
      else throw error;
      return undefined;
    }
  }

  lies(node: PublicNode, detail: string): void {
    this.#options.alerts.see('node-lies', node.url, detail, this.#options.now());
  }

  /** The members of the roster in force now, unless addresses were given. */
  #follow(members: readonly Member[]): void {
    const { urls, now, signal } = this.#options;
    const wanted = new Set((urls ?? members.map(({ baseUrl }) => baseUrl)).map(addressOf));
    const known = new Map(this.#nodes.map((node) => [node.url, node]));
    this.#nodes = [...wanted].map((url) => known.get(url) ?? new PublicNode(url, { now, signal }));
    for (const url of this.#failures.keys()) if (!wanted.has(url)) this.#failures.delete(url);
  }

  #note(node: PublicNode, error: PublicNodeError): void {
    if (error.code === 'unreadable') {
      this.lies(node, error.message);
      return;
    }
    if (error.code === 'paced' || error.code === 'slow') this.#paced = true;
    // The first failure of a round is why the others follow.
    if (error.code !== 'paced' && !this.#failing.has(node.url)) this.#failing.set(node.url, error.message);
  }
}

function addressOf(url: string): string {
  return url.replace(/\/$/, '');
}
