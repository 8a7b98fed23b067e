import type { Logger } from 'pino';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { readBatch, type StoredBatch } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { CatchUp } from './catch-up.ts';
import type { ChainContradictionError } from './chain-assembler.ts';
import type { Chains } from './chains.ts';
import type { Cosignatures } from './cosignatures.ts';
import type { Equivocation, Equivocations } from './equivocations.ts';
import type { FederationKeys } from './federation-keys.ts';
import { Gossip } from './gossip.ts';
import { encodeGossip, type GossipMessage } from './gossip-forms.ts';
import { HeadExchange } from './head-exchange.ts';
import { Lanes } from './lanes.ts';
import { pageRequest, status } from './page-forms.ts';
import { PageServer } from './page-server.ts';
import type { Topic, Transport, Verdict } from './transport/contract.ts';

export interface FederationOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly signer: Signer;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly cosignatures: Cosignatures;
  readonly equivocations: Equivocations;
  readonly transport: Transport;
  readonly now: () => number;
  readonly headExchangeMs?: number;
  readonly log: Logger;
}

const TOPIC_OF: Readonly<Record<GossipMessage['type'], Topic>> = {
  envelope: 'batch',
  equivocation: 'batch',
  cosignature: 'cosign',
  certificate: 'keys',
  revocation: 'keys',
};

/** This node among its peers: announces its batches, holds everyone else's, and witnesses what it has checked. */
export class Federation implements AsyncDisposable {
  readonly #options: FederationOptions;
  readonly #gossip: Gossip;
  readonly #heads: HeadExchange;
  readonly #catchUp: CatchUp;
  readonly #pages: PageServer;
  readonly #stopListening: (() => void)[] = [];

  constructor(options: FederationOptions) {
    this.#options = options;
    const { store, cosignatures, keys } = options;
    const lanes = new Lanes<NodeId>();
    const onLead = (node: NodeId, peer: NodeId, batch: number) => {
      if (node !== options.self) this.#catchUp.lead(node, peer, batch);
      else this.#onOwnChainAhead(peer, batch);
    };
    this.#gossip = new Gossip({
      ...options,
      onLead,
      onCosignature: () => {},
      onEquivocation: (proof) => this.#onEquivocation(proof),
      onUnknownKey: (peer) => this.#heads.exchange(peer),
    });
    this.#heads = new HeadExchange({
      ...options,
      lanes,
      onLead,
      ...(options.headExchangeMs === undefined ? {} : { intervalMs: options.headExchangeMs }),
    });
    this.#catchUp = new CatchUp({
      ...options,
      lanes,
      onBatch: (batch) => this.#onBatch(batch),
      onContradiction: (_node, error) => this.#onContradiction(error),
    });
    this.#pages = new PageServer(store, cosignatures, keys);
  }

  /** Takes what the transport hears on a topic. */
  receive(data: Uint8Array, from: string): Promise<Verdict> {
    return this.#gossip.receive(data, nodeId(from));
  }

  get catchingUp(): readonly NodeId[] {
    return this.#catchUp.active;
  }

  async start(): Promise<void> {
    const { transport } = this.#options;
    const heads = this.#heads;
    transport.serve('status', async function* () {
      yield status.encode(heads.status());
    });
    transport.serve('batches', (request) => this.#pages.serve(pageRequest.decode(request)));
    this.#stopListening.push(
      transport.onConnect((peer) => {
        this.#catchUp.forgive(nodeId(peer));
        heads.exchange(nodeId(peer));
      }),
    );
    await transport.start();
    heads.start();
    await this.#witnessBacklog();
  }

  /** Tells the federation of a batch that this node has sealed. */
  async announce(batch: StoredBatch): Promise<void> {
    this.#options.chains.advance(batch);
    await this.#publish({ type: 'envelope', signed: batch.signed });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await this.#catchUp[Symbol.asyncDispose]();
    await this.#heads[Symbol.asyncDispose]();
    await this.#options.transport[Symbol.asyncDispose]();
  }

  /** A peer's batch is whole and checked: look for a rival once more, then witness it. */
  async #onBatch(batch: StoredBatch): Promise<void> {
    const { self, signer, cosignatures, equivocations, now } = this.#options;
    await this.#gossip.watch(batch.signed);
    const { node, batch: number } = batch.envelope;
    if (equivocations.taints(node, number) || cosignatures.watermark(node, self) >= number) return;
    const signed = await cosignatures.witness(batch, self, signer, now());
    await this.#publish({ type: 'cosignature', signed });
  }

  /** Cosigns what an earlier run stored but did not come to witness. */
  async #witnessBacklog(): Promise<void> {
    const { self, store, chains, cosignatures } = this.#options;
    for (const [node, head] of chains.all()) {
      if (node === self) continue;
      for (let number = cosignatures.watermark(node, self) + 1; number <= head.batch; number++) {
        const batch = await readBatch(store, node, number);
        if (batch !== undefined) await this.#onBatch(batch);
      }
    }
  }

  async #onContradiction(error: ChainContradictionError): Promise<void> {
    for (const signed of error.signed) {
      // Only envelopes can be rivals; a contradicting group is kept in the log alone.
      if (signed.statement.includes('"type":"batch"')) await this.#gossip.watch(signed);
    }
  }

  #onEquivocation(proof: Equivocation): void {
    this.#options.log.error({ proof }, 'a node signed two envelopes for one batch');
    void this.#publish({ type: 'equivocation', proof });
  }

  /** Peers hold more of this node's chain than this store does: it was rolled back. Signing on would fork the chain. */
  #onOwnChainAhead(peer: NodeId, batch: number): void {
    const held = this.#options.chains.head(this.#options.self).batch;
    this.#options.log.fatal({ peer, batch, held }, 'peers hold batches of this node that its own store lacks');
  }

  async #publish(message: GossipMessage): Promise<void> {
    try {
      await this.#options.transport.publish(TOPIC_OF[message.type], encodeGossip(message));
    } catch (error) {
      // Peers that missed it learn of it when heads are compared.
      this.#options.log.warn({ err: error, type: message.type }, 'gossip was not sent');
    }
  }
}
