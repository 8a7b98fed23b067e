import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { StoredBatch } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { ChainAssembler, ChainContradictionError } from './chain-assembler.ts';
import type { Chains } from './chains.ts';
import type { FederationKeys } from './federation-keys.ts';
import type { Lanes } from './lanes.ts';
import { decodeItem, type PageRequest, pageRequest } from './page-forms.ts';
import { PeerStatementError } from './statement-check.ts';
import type { Transport } from './transport/contract.ts';

/** How long a peer that failed is left alone for this chain. In milliseconds. */
const REST_MS = 5_000;
/** Rest of a peer that served something false. In milliseconds. */
const DISTRUST_MS = 60_000;

export interface CatchUpOptions {
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly transport: Pick<Transport, 'request'>;
  readonly lanes: Lanes<NodeId>;
  readonly now: () => number;
  readonly log: Logger;
  /** Told of every batch that is whole, checked and on the disk, in order of its chain. */
  readonly onBatch: (batch: StoredBatch, from: NodeId) => Promise<void>;
  /** Told of a chain whose origin contradicts itself. */
  readonly onContradiction: (node: NodeId, error: ChainContradictionError) => Promise<void>;
}

interface Lead {
  /** Batch that the peer says it holds. */
  batch: number;
  /** Not asked before this time, in epoch milliseconds. */
  notBefore: number;
}

/**
 * Pulls the chains that peers are ahead in, page by page, one page at a time from a peer. What a peer says about its
 * heads only decides whom to ask; what is stored was checked by the assembler.
 */
export class CatchUp implements AsyncDisposable {
  readonly #options: CatchUpOptions;
  readonly #leads = new Map<NodeId, Map<NodeId, Lead>>();
  readonly #running = new Map<NodeId, Promise<void>>();
  readonly #assemblers = new Map<NodeId, ChainAssembler>();
  readonly #closing = new AbortController();

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** A peer says that it holds a node's chain up to `batch`. */
  lead(node: NodeId, peer: NodeId, batch: number): void {
    const leads = this.#leads.get(node) ?? new Map<NodeId, Lead>();
    this.#leads.set(node, leads);
    const known = leads.get(peer);
    leads.set(peer, { batch: Math.max(batch, known?.batch ?? 0), notBefore: known?.notBefore ?? 0 });
    this.#wake(node);
  }

  /** A peer came back: whatever it was resting for is over. */
  forgive(peer: NodeId): void {
    for (const leads of this.#leads.values()) leads.delete(peer);
  }

  /** Chains being pulled at this moment. */
  get active(): readonly NodeId[] {
    return [...this.#running.keys()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running.values());
  }

  #wake(node: NodeId): void {
    if (this.#running.has(node) || this.#closing.signal.aborted || this.#choose(node) === undefined) return;
    const run = this.#pull(node).finally(() => {
      this.#running.delete(node);
      this.#wake(node);
    });
    this.#running.set(node, run);
  }

  async #pull(node: NodeId): Promise<void> {
    for (let peer = this.#choose(node); peer !== undefined; peer = this.#choose(node)) {
      let gained = false;
      try {
        gained = await this.#pullPage(node, peer);
        if (this.#closing.signal.aborted) return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        await this.#judge(node, peer, error);
        continue;
      }
      // A peer that ran out of records knew less than it said.
      if (!gained) this.#rest(node, peer, REST_MS);
    }
  }

  /** Pulls one page, which may end in the middle of a batch. Whether it brought anything. */
  async #pullPage(node: NodeId, peer: NodeId): Promise<boolean> {
    const { store, keys, chains, transport, lanes } = this.#options;
    const assembler = this.#assemblers.get(node) ?? (await ChainAssembler.recover(node, store, keys, chains));
    this.#assemblers.set(node, assembler);
    const { batch: fromBatch, seq: fromSeq } = assembler.wanted;
    const request: PageRequest = { want: 'chain', node, batch: fromBatch, seq: fromSeq };
    await lanes.run(peer, async () => {
      assembler.beginPage();
      const options = { signal: this.#closing.signal };
      for await (const frame of transport.request(peer, 'batches', pageRequest.encode(request), options)) {
        const batch = await assembler.take(decodeItem(frame));
        if (batch !== undefined) await this.#options.onBatch(batch, peer);
      }
    });
    return assembler.wanted.batch > fromBatch || assembler.wanted.seq > fromSeq;
  }

  async #judge(node: NodeId, peer: NodeId, error: unknown): Promise<void> {
    const { log, onContradiction } = this.#options;
    // What was staged may be half of something; the store knows what is whole.
    this.#assemblers.delete(node);
    if (error instanceof ChainContradictionError) {
      log.error({ err: error, node, peer }, 'a node contradicts its own chain');
      await onContradiction(node, error);
      this.#rest(node, peer, DISTRUST_MS);
    } else if (error instanceof PeerStatementError && (error.fault === 'forged' || error.fault === 'malformed')) {
      log.warn({ err: error, node, peer }, 'a peer served a page that does not hold');
      this.#rest(node, peer, DISTRUST_MS);
    } else {
      log.debug({ err: error, node, peer }, 'a page did not arrive');
      this.#rest(node, peer, REST_MS);
    }
  }

  /** The origin itself if it can be asked, else the peer that is furthest ahead. */
  #choose(node: NodeId): NodeId | undefined {
    const now = this.#options.now();
    const held = this.#options.chains.head(node).batch;
    const able = [...(this.#leads.get(node) ?? [])].filter(([, lead]) => lead.batch > held && lead.notBefore <= now);
    able.sort(([a, leadA], [b, leadB]) => Number(b === node) - Number(a === node) || leadB.batch - leadA.batch);
    return able[0]?.[0];
  }

  #rest(node: NodeId, peer: NodeId, milliseconds: number): void {
    const lead = this.#leads.get(node)?.get(peer);
    if (lead === undefined) return;
    lead.notBefore = this.#options.now() + milliseconds;
    setTimeout(() => this.#wake(node), milliseconds + 1).unref();
  }
}
