import type { MemberProtocol } from '../../../node/accounts/limits/route-weights.ts';
import { type PageRequest, pageRequest } from '../../../node/federation/page-forms.ts';
import type {
  PeerState,
  Receive,
  Serve,
  Topic,
  Transport,
  ValidationResult,
} from '../../../node/transport/contract.ts';
import { TransportError } from '../../../node/transport/errors.ts';

export interface AskedPage {
  readonly from: string;
  readonly to: string;
  readonly request: PageRequest;
}

export interface HeardGossip {
  readonly from: string;
  readonly to: string;
  readonly topic: Topic;
  readonly verdict: ValidationResult;
}

/** What a peer answers instead of what it should. */
export type Distortion = (frames: AsyncIterable<Uint8Array>, request: PageRequest) => AsyncIterable<Uint8Array>;

/** The wire between transports of one process: who is connected, what was asked, and how it was judged. */
export class FakeNetwork {
  readonly pages: AskedPage[] = [];
  readonly heard: HeardGossip[] = [];
  /** Highest number of pages that one member ever had under way at one peer. */
  mostAtOnce = 0;
  /** Distorts the pages that a member serves. */
  readonly distortions = new Map<string, Distortion>();
  readonly #transports = new Map<string, FakeTransport>();
  readonly #cut = new Set<string>();
  readonly #underWay = new Map<string, number>();

  transport(node: string, members: readonly string[], receive: Receive): Transport {
    const transport = new FakeTransport(this, node, members, receive);
    this.#transports.set(node, transport);
    return transport;
  }

  /** Ends every connection of a member, or those between two. */
  cut(node: string, other?: string): void {
    for (const peer of this.#transports.keys()) {
      if (peer === node || (other !== undefined && peer !== other)) continue;
      this.#cut.add(pair(node, peer));
    }
  }

  heal(node: string, other?: string): void {
    for (const [peer, transport] of this.#transports) {
      if (peer === node || (other !== undefined && peer !== other) || !this.#cut.delete(pair(node, peer))) continue;
      transport.noteConnected(node);
      this.#transports.get(node)?.noteConnected(peer);
    }
  }

  running(node: string): FakeTransport | undefined {
    const transport = this.#transports.get(node);
    return transport?.started === true ? transport : undefined;
  }

  connected(a: string, b: string): boolean {
    return this.running(a) !== undefined && this.running(b) !== undefined && !this.#cut.has(pair(a, b));
  }

  others(node: string): FakeTransport[] {
    return [...this.#transports.values()].filter((other) => this.connected(node, other.node) && other.node !== node);
  }

  begin(from: string, to: string, request: PageRequest): () => void {
    this.pages.push({ from, to, request });
    const key = `${from}>${to}`;
    const now = (this.#underWay.get(key) ?? 0) + 1;
    this.#underWay.set(key, now);
    this.mostAtOnce = Math.max(this.mostAtOnce, now);
    return () => this.#underWay.set(key, (this.#underWay.get(key) ?? 1) - 1);
  }
}

/** Version of every protocol here. */
export const NEWEST = 2;

class FakeTransport implements Transport {
  readonly node: string;
  readonly receive: Receive;
  started = false;
  readonly #network: FakeNetwork;
  readonly #members: readonly string[];
  readonly #servers = new Map<MemberProtocol, Serve>();
  readonly #listeners = new Set<(node: string) => void>();

  constructor(network: FakeNetwork, node: string, members: readonly string[], receive: Receive) {
    this.#network = network;
    this.node = node;
    this.#members = members;
    this.receive = receive;
  }

  async start(): Promise<void> {
    this.started = true;
    for (const other of this.#network.others(this.node)) {
      other.noteConnected(this.node);
      this.noteConnected(other.node);
    }
  }

  async publish(topic: Topic, data: Uint8Array): Promise<number> {
    const others = this.#network.others(this.node);
    for (const other of others) void this.#deliver(other, topic, data);
    return others.length;
  }

  serve(protocol: MemberProtocol, serve: Serve): void {
    this.#servers.set(protocol, serve);
  }

  async *request(
    to: string,
    protocol: MemberProtocol,
    request: Uint8Array,
    { signal = new AbortController().signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array> {
    const serve = this.#network.running(to)?.servers.get(protocol);
    if (serve === undefined || !this.#network.connected(this.node, to)) {
      throw new TransportError('unreachable', `${to} is not connected`);
    }
    const asked = protocol === 'batches' ? pageRequest.decode(request) : undefined;
    const frames = serve(request, this.node, signal, NEWEST);
    const distort = asked === undefined ? undefined : this.#network.distortions.get(to);
    const end = asked === undefined ? () => {} : this.#network.begin(this.node, to, asked);
    try {
      for await (const frame of asked === undefined || distort === undefined ? frames : distort(frames, asked)) {
        if (signal.aborted) throw new TransportError('aborted', 'called off');
        if (!this.#network.connected(this.node, to)) throw new TransportError('cut', `${to} went away`);
        yield frame;
      }
    } finally {
      end();
    }
  }

  peers(): readonly PeerState[] {
    return this.#members
      .filter((member) => member !== this.node)
      .map((node) => ({
        node,
        connected: this.#network.connected(this.node, node),
        since: null,
        subscribed: [],
        rtt: null,
        score: null,
        lastError: null,
      }));
  }

  onConnect(listener: (node: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onDisconnect(): () => void {
    return () => {};
  }

  async setMembers(): Promise<void> {}

  addresses(): string[] {
    return [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.started = false;
  }

  get servers(): ReadonlyMap<MemberProtocol, Serve> {
    return this.#servers;
  }

  noteConnected(node: string): void {
    for (const listener of this.#listeners) listener(node);
  }

  async #deliver(to: FakeTransport, topic: Topic, data: Uint8Array): Promise<void> {
    const verdict = await to.receive(topic, data, this.node);
    this.#network.heard.push({ from: this.node, to: to.node, topic, verdict });
  }
}

function pair(a: string, b: string): string {
  return a < b ? `${a}|${b}` : `${b}|${a}`;
}
