import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { peerIdOfSeed } from '../../../node/transport/identity.ts';
import { createTransport } from '../../../node/transport/transport.ts';
import type { TransportLimits } from '../../../node/transport/limits.ts';
import type {
  MemberProtocol,
  Receive,
  Transport,
  TransportMember,
  TransportOptions,
} from '../../../node/transport/transport.ts';
import { until } from '../../fixtures/until.ts';

export const DIGEST = '0a1b2c3d';
export const ANY_PORT = '/ip4/127.0.0.1/tcp/0';
/** Time-outs of a test's network: short, so that what must be noticed is noticed soon. */
const QUICK: Partial<TransportLimits> = {
  redialTick: 50,
  redialFirst: 100,
  redialMost: 500,
  redialForgiveAfter: 1_000,
  watchdogTick: 100,
};

export const silent = pino({ level: 'silent' });

export interface Message {
  readonly topic: string;
  readonly text: string;
  readonly from: string;
}

export interface Peer {
  readonly transport: Transport;
  readonly seed: Uint8Array;
  readonly received: Message[];
}

export function seedOf(node: string): Uint8Array {
  return createHash('sha256').update(`transport test ${node}`).digest();
}

export async function memberOf(node: string, multiaddrs: readonly string[] = []): Promise<TransportMember> {
  return { node, peerId: await peerIdOfSeed(seedOf(node)), multiaddrs };
}

export interface PeerOptions {
  readonly limits?: Partial<TransportLimits>;
  readonly listen?: readonly string[];
  readonly receive?: Receive;
  readonly onFault?: NonNullable<TransportOptions['onFault']>;
  readonly onRefused?: NonNullable<TransportOptions['onRefused']>;
}

/** A transport that is not started yet and keeps what it receives. */
export function peerOf(self: string, members: readonly TransportMember[], options: PeerOptions = {}): Peer {
  const received: Message[] = [];
  const receive: Receive = async (topic, data, from) => {
    received.push({ topic, text: Buffer.from(data).toString(), from });
    return (await options.receive?.(topic, data, from)) ?? 'accept';
  };
  const seed = seedOf(self);
  const settings: TransportOptions = {
    self,
    seed,
    listen: options.listen ?? [ANY_PORT],
    digest: DIGEST,
    members,
    receive,
    log: silent,
    limits: { ...QUICK, ...options.limits },
    ...(options.onFault === undefined ? {} : { onFault: options.onFault }),
    ...(options.onRefused === undefined ? {} : { onRefused: options.onRefused }),
  };
  return { transport: createTransport(settings), seed, received };
}

/** A running federation on free ports. Disposing it ends what is left of it. */
export class Network implements AsyncDisposable {
  readonly peers = new Map<string, Peer>();
  members: TransportMember[] = [];

  static async of(nodes: readonly string[], options: Record<string, PeerOptions> = {}): Promise<Network> {
    const network = new Network();
    network.members = await Promise.all(nodes.map((node) => memberOf(node)));
    for (const node of nodes) {
      const peer = peerOf(node, network.members, options[node]);
      network.peers.set(node, peer);
      await peer.transport.start();
    }
    network.members = await Promise.all(nodes.map((node) => memberOf(node, network.transport(node).addresses())));
    await network.tell();
    return network;
  }

  peer(node: string): Peer {
    const peer = this.peers.get(node);
    if (peer === undefined) throw new Error(`the test has no node ${node}`);
    return peer;
  }

  transport(node: string): Transport {
    return this.peer(node).transport;
  }

  async tell(): Promise<void> {
    for (const { transport } of this.peers.values()) await transport.setMembers(this.members);
  }

  /** Waits until every peer of ours is connected to and subscribed by all its other members here. */
  async meshed(): Promise<void> {
    await until('the mesh', () => [...this.peers.keys()].every((node) => this.hasMeshed(node)));
  }

  hasMeshed(node: string): boolean {
    const states = this.transport(node).peers();
    return states.every((state) => !this.peers.has(state.node) || (state.connected && state.subscribed.length === 3));
  }

  async stop(node: string): Promise<void> {
    await this.transport(node)[Symbol.asyncDispose]();
    this.peers.delete(node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.peers.values()].map(({ transport }) => transport[Symbol.asyncDispose]()));
  }
}

export async function codeOf(outcome: Promise<unknown>): Promise<string> {
  try {
    await outcome;
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** The frames of an answer, as texts. */
export async function ask(
  transport: Transport,
  node: string,
  protocol: MemberProtocol,
  request: string,
): Promise<string[]> {
  const frames: string[] = [];
  for await (const frame of transport.request(node, protocol, Buffer.from(request))) {
    frames.push(Buffer.from(frame).toString());
  }
  return frames;
}
