import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionGater, PeerId } from '@libp2p/interface';
import type { Logger } from 'pino';
import type { MemberProtocol } from '../accounts/limits/route-weights.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import { hangUp, openConnection } from './connections.ts';
import {
  type PeerState,
  type Serve,
  type Topic,
  TOPICS,
  type Transport,
  type TransportMember,
  type TransportOptions,
  type WireFault,
} from './contract.ts';
import { startFaultOf, TransportError } from './errors.ts';
import { FloodGuard } from './flood-guard.ts';
import type { GossipTransport } from './gossip.ts';
import type { MeridianNode } from './libp2p-node.ts';
import { limitsFrom, type TransportLimits } from './limits.ts';
import { Members, type RosterPeer } from './members.ts';
import { wireNames, type WireNames } from './names.ts';
import { Presence } from './presence.ts';
import type { reachableMembers } from './read-members.ts';
import { Redial } from './redial.ts';
import { RequestClient } from './request-client.ts';
import { RequestServer } from './request-server.ts';

interface WatchdogOptions {
  readonly node: MeridianNode;
  readonly members: Members;
  readonly gossip: GossipTransport;
  readonly limits: Readonly<TransportLimits>;
  readonly log: Logger;
}

/**
 * Hangs up on a connected member whose gossip is dead: gossip streams can end while the connection lives, and nothing
 * else notices. Anyone who dials that pair dials again.
 */
class Watchdog implements AsyncDisposable {
  readonly #node: MeridianNode;
  readonly #members: Members;
  readonly #gossip: GossipTransport;
  readonly #limits: Readonly<TransportLimits>;
  readonly #log: Logger;
  readonly #task: PeriodicTask<void>;
  /** When each connected peer was first seen without all our topics, by peer id. */
  readonly #missingSince = new Map<string, number>();

  constructor({ node, members, gossip, limits, log }: WatchdogOptions) {
    this.#node = node;
    this.#members = members;
    this.#gossip = gossip;
    this.#limits = limits;
    this.#log = log;
    this.#task = new PeriodicTask(limits.watchdogTick, () => this.#hangUpDead());
  }

  start(): void {
    this.#task.start();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#task[Symbol.asyncDispose]();
  }

  async #hangUpDead(): Promise<void> {
    const dead = this.#members.others().filter((member) => this.#isDead(member));
    await Promise.all(dead.map((member) => this.#hangUp(member)));
  }

  #isDead(member: RosterPeer): boolean {
    const peer = member.peerId.toString();
    const connected = openConnection(this.#node, member.peerId) !== null;
    if (!connected || this.#gossip.subscriptionsOf(member.peerId).length === TOPICS.length) {
      this.#missingSince.delete(peer);
      return false;
    }
    const since = this.#missingSince.get(peer) ?? performance.now();
    this.#missingSince.set(peer, since);
    return performance.now() - since > this.#limits.unsubscribedMost;
  }

  async #hangUp(member: RosterPeer): Promise<void> {
    this.#missingSince.delete(member.peerId.toString());
    this.#log.warn({ peer: member.node }, 'gossip with a connected peer is dead: hanging up');
    await hangUp(this.#node, member.peerId, 'gossip is dead');
  }
}

type Reachable = typeof reachableMembers;

export type {
  PeerState,
  Receive,
  Serve,
  Topic,
  Transport,
  TransportMember,
  TransportOptions,
  ValidationResult,
  WireFault,
} from './contract.ts';
export type { MemberProtocol } from '../accounts/limits/route-weights.ts';
export type { TransportLimits } from './limits.ts';

/** Before each part of what is loaded: a request is taken and answered in that time. In milliseconds. */
const LOAD_PAUSE_MS = 5;

/** What exists between `start` and disposal. */
interface Running {
  readonly node: MeridianNode;
  readonly gossip: GossipTransport;
  readonly client: RequestClient;
  readonly redial: Redial;
  readonly watchdog: Watchdog;
}

/**
 * A transport over libp2p: TCP, TLS 1.3 and yamux, gossipsub, and framed requests. Its start throws `TransportError`
 * `malformed` for a roster that cannot be read.
 * @throws RangeError for a bad digest or limit
 */
export function createTransport(options: TransportOptions): Transport {
  return new Libp2pTransport(options);
}

class Libp2pTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #limits: Readonly<TransportLimits>;
  readonly #names: WireNames;
  readonly #members: Members;
  /** What `#members` is read from, once libp2p is loaded. */
  #roster: readonly TransportMember[];
  #reachable: Reachable | null = null;
  readonly #presence: Presence;
  readonly #guard: FloodGuard;
  readonly #server: RequestServer;
  /** Ends loops, dials, requests and answers. */
  readonly #ending = new AbortController();
  #starting: Promise<Running> | null = null;
  #running: Running | null = null;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#limits = limitsFrom(options.limits);
    this.#names = wireNames(options.digest);
    this.#members = new Members(options.self);
    this.#roster = options.members;
    this.#presence = new Presence(this.#members, this.#limits, options.log);
    const onFault = (node: string, fault: WireFault) => options.onFault?.(node, fault);
    this.#guard = new FloodGuard({ members: this.#members, limits: this.#limits, onFault, log: options.log });
    this.#server = new RequestServer({
      names: this.#names,
      members: this.#members,
      limits: this.#limits,
      guard: this.#guard,
      onFault,
      onRefused: (node, refusal) => options.onRefused?.(node, refusal),
      log: options.log,
      signal: this.#ending.signal,
    });
  }

  /** Throws `PeerListenError` where it cannot listen. */
  async start(): Promise<void> {
    this.#ending.signal.throwIfAborted();
    if (this.#starting !== null) throw new Error('the transport has been started already');
    this.#starting = this.#launch();
    const running = await this.#starting;
    if (!this.#ending.signal.aborted) this.#running = running;
  }

  async publish(topic: Topic, data: Uint8Array): Promise<number> {
    return await this.#live().gossip.publish(topic, data);
  }

  serve(protocol: MemberProtocol, serve: Serve) {
    this.#server.serve(protocol, serve);
  }

  async *request(to: string, protocol: MemberProtocol, body: Uint8Array, { signal }: { signal?: AbortSignal } = {}) {
    yield* this.#live().client.request(to, protocol, body, signal);
  }

  peers(): readonly PeerState[] {
    return this.#roster.filter(({ node }) => node !== this.#options.self).map(({ node }) => this.#stateOf(node));
  }

  onConnect(listener: (node: string) => void): () => void {
    return this.#presence.onConnect(listener);
  }

  onDisconnect(listener: (node: string) => void): () => void {
    return this.#presence.onDisconnect(listener);
  }

  async setMembers(members: readonly TransportMember[]): Promise<void> {
    this.#reachable ??= (await import('./read-members.ts')).reachableMembers;
    const removed = this.#replace(members, this.#reachable);
    this.#roster = members;
    this.#server.forgetStrangers();
    const node = this.#running?.node;
    if (node !== undefined) await Promise.all(removed.map((peer) => hangUp(node, peer, 'no longer a member')));
  }

  /** Takes whom it can tell apart; returns the peers that are members no longer. */
  #replace(members: readonly TransportMember[], reachable: Reachable): PeerId[] {
    const { log } = this.#options;
    const leaveOut = (error: TransportError) => {
      log.error({ err: error }, 'a member of the roster cannot be reached by what it says, and is left out');
    };
    return this.#members.replace(reachable(members, leaveOut));
  }

  addresses(): string[] {
    return this.#running?.node.getMultiaddrs().map(String) ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new TransportError('aborted', 'the transport is disposed'));
    this.#running = null;
    const running = await this.#starting?.catch(() => null);
    await Promise.all([running?.redial[Symbol.asyncDispose](), running?.watchdog[Symbol.asyncDispose]()]);
    await running?.node.stop();
  }

  async #launch(): Promise<Running> {
    const { seed, listen, log, members: first, receive, self } = this.#options;
    const { createNode, GossipTransport, peerIdOfSeed, peerKeyOfSeed, reachable } = await loadLibp2p();
    this.#replace(this.#roster, reachable);
    this.#reachable = reachable;
    const entry = first.find((member) => member.node === self);
    if (entry?.peerId !== (await peerIdOfSeed(seed))) {
      throw new TransportError('malformed', `the roster does not name ${self} with the peer id of our seed`);
    }
    const [members, names, limits, signal] = [this.#members, this.#names, this.#limits, this.#ending.signal];
    const key = await peerKeyOfSeed(seed);
    const guard = this.#guard;
    const gater = membersOnly(members, guard, log);
    const node = await createNode({ key, listen, gater, topics: names.topics, limits });
    guard.watch(node);
    const onFault = (peer: string, fault: WireFault) => this.#options.onFault?.(peer, fault);
    const gossip = new GossipTransport({
      pubsub: node.services.pubsub,
      names,
      members,
      receive,
      onFault,
      limits,
      guard,
      log,
    });
    const redial = new Redial({ node, members, limits, log });
    const watchdog = new Watchdog({ node, members, gossip, limits, log });
    this.#presence.watch(node);
    await this.#server.attach(node);
    try {
      await node.start();
      gossip.join();
    } catch (error) {
      await node.stop();
      throw startFaultOf(error);
    }
    if (!signal.aborted) for (const task of [redial, watchdog]) task.start();
    return {
      node,
      gossip,
      redial,
      watchdog,
      client: new RequestClient({ node, names, members, limits, onFault, signal }),
    };
  }

  #live(): Running {
    if (this.#running === null) throw new TransportError('aborted', 'the transport is not running');
    return this.#running;
  }

  #stateOf(name: string): PeerState {
    const running = this.#running;
    const peerId = this.#members.other(name)?.peerId;
    const seen = running === null || peerId === undefined ? UNSEEN : seenOf(running, peerId);
    const { connected, ...more } = seen;
    const lastError = running?.redial.lastError(name) ?? null;
    return { node: name, connected, since: this.#presence.since(name), ...more, lastError };
  }
}

type SeenOfPeer = Pick<PeerState, 'connected' | 'subscribed' | 'rtt' | 'score'>;

const UNSEEN: SeenOfPeer = { connected: false, subscribed: [], rtt: null, score: null };

function seenOf({ node, gossip }: Running, peerId: PeerId): SeenOfPeer {
  const connection = openConnection(node, peerId);
  return {
    connected: connection !== null,
    subscribed: gossip.subscriptionsOf(peerId),
    rtt: connection?.rtt ?? null,
    score: gossip.scoreOf(peerId),
  };
}

/**
 * What stands on libp2p. Loaded at the start of a transport, since it costs some 300 ms and 60 MB, and in parts,
 * between which anyone who asks the node meanwhile is answered.
 */
async function loadLibp2p() {
  await sleep(LOAD_PAUSE_MS);
  const { reachableMembers: reachable } = await import('./read-members.ts');
  await sleep(LOAD_PAUSE_MS);
  const { peerIdOfSeed, peerKeyOfSeed } = await import('./identity.ts');
  await sleep(LOAD_PAUSE_MS);
  await import('@libp2p/tls');
  await sleep(LOAD_PAUSE_MS);
  const { GossipTransport } = await import('./gossip.ts');
  await sleep(LOAD_PAUSE_MS);
  const { createNode } = await import('./libp2p-node.ts');
  return { createNode, GossipTransport, peerIdOfSeed, peerKeyOfSeed, reachable };
}

/**
 * Members only, both ways, but for those that flood. A dialler who is kept out sees its dial succeed before it is
 * dropped: an inbound stranger is known only after the handshake.
 */
function membersOnly(members: Members, guard: Pick<FloodGuard, 'isKeptOut'>, log: Logger): ConnectionGater {
  const deny = (peer: PeerId): boolean => {
    const stranger = members.isStranger(peer);
    if (stranger) log.debug({ peer: peer.toString() }, 'stranger kept out');
    return stranger || guard.isKeptOut(peer);
  };
  return {
    denyDialPeer: deny,
    denyInboundEncryptedConnection: deny,
    denyOutboundEncryptedConnection: deny,
    denyInboundUpgradedConnection: deny,
    denyOutboundUpgradedConnection: deny,
    denyInboundRelayReservation: () => true,
    denyInboundRelayedConnection: () => true,
    denyOutboundRelayedConnection: () => true,
  };
}
