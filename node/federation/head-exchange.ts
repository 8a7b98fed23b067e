import type { Logger } from 'pino';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { Chains } from './chains.ts';
import type { Cosignatures } from './cosignatures.ts';
import type { FederationKeys } from './federation-keys.ts';
import type { Lanes } from './lanes.ts';
import { decodeItem, type PageRequest, pageRequest, type Status, status } from './page-forms.ts';
import { PeerStatementError } from './statement-check.ts';
import type { Transport } from './transport/contract.ts';

/** Gossip has no history, so peers compare heads this often besides on every connection. In milliseconds. */
export const HEAD_EXCHANGE_MS = 30_000;

export interface HeadExchangeOptions {
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly cosignatures: Cosignatures;
  readonly transport: Pick<Transport, 'request' | 'peers'>;
  readonly lanes: Lanes<NodeId>;
  readonly intervalMs?: number;
  readonly log: Logger;
  /** A peer says that it holds a chain up to a batch. */
  readonly onLead: (node: NodeId, peer: NodeId, batch: number) => void;
}

/** Compares what this node holds with what its peers hold, and pulls the keys and cosignatures that it lacks. */
export class HeadExchange implements AsyncDisposable {
  readonly #options: HeadExchangeOptions;
  readonly #closing = new AbortController();
  readonly #running = new Map<NodeId, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeadExchangeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.exchangeAll(), this.#options.intervalMs ?? HEAD_EXCHANGE_MS);
  }

  exchangeAll(): void {
    for (const { node, connected } of this.#options.transport.peers()) if (connected) this.exchange(nodeId(node));
  }

  /** Exchanges with one peer, unless that is under way. */
  exchange(peer: NodeId): void {
    if (this.#running.has(peer) || this.#closing.signal.aborted) return;
    const run = this.#exchange(peer)
      .catch((error: unknown) => this.#options.log.debug({ err: error, peer }, 'no head exchange'))
      .finally(() => this.#running.delete(peer));
    this.#running.set(peer, run);
  }

  /** What this node answers a peer that asks. */
  status(): Status {
    const { keys, chains, cosignatures } = this.#options;
    const members = keys.rosters.current.members.map((member) => member.node);
    return {
      heads: [...chains.all()].flatMap(([node, { batch, hash }]) =>
        hash === null ? [] : [{ node, batch, envelope: hash }],
      ),
      cosigned: members.flatMap((node) =>
        members.flatMap((witness) => {
          const batch = cosignatures.watermark(node, witness);
          return batch === 0 ? [] : [{ node, witness, batch }];
        }),
      ),
      keys: keys.directory.all().map((key) => key.certificate.keyId),
      roster: keys.rosters.current.version,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #exchange(peer: NodeId): Promise<void> {
    const theirs = await this.#ask(peer);
    const { keys, chains, onLead } = this.#options;
    const known = new Set(keys.directory.all().map((key) => key.certificate.keyId));
    if (theirs.keys.some((keyId) => !known.has(keyId))) await this.pullKeys(peer);
    for (const { node, batch } of theirs.heads) {
      if (keys.isMember(node) && batch > chains.head(node).batch) onLead(node, peer, batch);
    }
    for (const { node, witness, batch } of theirs.cosigned) await this.#pullCosignatures(peer, node, witness, batch);
  }

  async #ask(peer: NodeId): Promise<Status> {
    const frames = await this.#collect(peer, 'status', status.encode(this.status()));
    const [frame] = frames;
    if (frame === undefined) throw new PeerStatementError('malformed', 'an empty status');
    return status.decode(frame);
  }

  async pullKeys(peer: NodeId): Promise<void> {
    for (const frame of await this.#collect(peer, 'batches', pageRequest.encode({ want: 'keys' }))) {
      const item = decodeItem(frame);
      if (item.kind === 'certificate') await this.#options.keys.learnCertificate(item.signed);
      else if (item.kind === 'revocation') await this.#options.keys.learnRevocation(item.signed);
    }
  }

  async #pullCosignatures(peer: NodeId, node: NodeId, witness: NodeId, upTo: number): Promise<void> {
    const { cosignatures, keys } = this.#options;
    if (!keys.isMember(node) || !keys.isMember(witness)) return;
    for (let held = cosignatures.watermark(node, witness); held < upTo;) {
      const request: PageRequest = { want: 'cosignatures', node, witness, from: held + 1 };
      for (const frame of await this.#collect(peer, 'batches', pageRequest.encode(request))) {
        const item = decodeItem(frame);
        if (item.kind === 'cosignature') await cosignatures.learn(item.signed);
      }
      const now = cosignatures.watermark(node, witness);
      if (now === held) return;
      held = now;
    }
  }

  #collect(peer: NodeId, protocol: 'status' | 'batches', request: Uint8Array): Promise<Uint8Array[]> {
    const { transport, lanes } = this.#options;
    const options = { signal: this.#closing.signal };
    return lanes.run(peer, () => Array.fromAsync(transport.request(peer, protocol, request, options)));
  }
}
