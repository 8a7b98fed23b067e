import type { Logger } from 'pino';
import type { MemberProtocol } from '../accounts/limits/route-weights.ts';
import type { TransportLimits } from './limits.ts';

export const TOPICS = ['batch', 'checkpoint', 'keys'] as const;

export type Topic = (typeof TOPICS)[number];

/**
 * What a receiver says of a gossiped message. `accept` forwards it. `ignore` drops it without blame; the same bytes
 * do not come back for two minutes, so the receiver queues or pulls what it needs. `reject` blames the author and every
 * forwarder: only for faults that any honest member would see (malformed bytes), never for an unknown key or a clock.
 */
export type ValidationResult = 'accept' | 'ignore' | 'reject';

/** A member as the roster names it. `multiaddrs` may be empty: such a member dials and is never dialled. */
export interface TransportMember {
  readonly node: string;
  readonly peerId: string;
  readonly multiaddrs: readonly string[];
}

/** What a member was caught at on the wire. `slow`: an answer that did not come in time. */
export type WireFault = 'malformed' | 'oversize' | 'slow' | 'flood';

/** Why a member is to come back later: too much at once, too often, or what it had cost in the last minute. */
export type MemberRefusal = 'allowance' | 'requests' | 'streams';

/** Takes a gossiped message from its author (a node id). Idempotent: the same message may come twice. */
export type Receive = (topic: Topic, data: Uint8Array, from: string) => Promise<ValidationResult> | ValidationResult;

/**
 * Answers one request with a sequence of frames. The signal ends when the caller is gone, the time is up, or the
 * transport is disposed. A thrown `TransportError` with code `busy`, `refused`, `too-large` or `malformed` reaches the
 * caller under that code; any other error reaches it as `failed`. `version`: that of the protocol, the newest that both
 * know.
 */
export type Serve = (
  request: Uint8Array,
  from: string,
  signal: AbortSignal,
  version: number,
) => AsyncIterable<Uint8Array>;

export interface PeerState {
  readonly node: string;
  readonly connected: boolean;
  /** Milliseconds since the epoch at which the peer came or went; null when it was never seen. */
  readonly since: number | null;
  readonly subscribed: readonly Topic[];
  /** Last measured round trip, in milliseconds. */
  readonly rtt: number | null;
  /** Gossip score, for watching only: nobody is kept out by it. */
  readonly score: number | null;
  readonly lastError: string | null;
}

export interface TransportOptions {
  /** Our own node id; `members` has an entry for it. */
  readonly self: string;
  /** 32-byte Ed25519 seed of the peer identity. */
  readonly seed: Uint8Array;
  readonly listen: readonly string[];
  /** 8 hex digits that name the federation in topics and protocols. */
  readonly digest: string;
  readonly members: readonly TransportMember[];
  readonly receive: Receive;
  readonly onFault?: (node: string, fault: WireFault) => void;
  /** Told of every request of a member that is not taken on. */
  readonly onRefused?: (node: string, refusal: MemberRefusal) => void;
  readonly log: Logger;
  readonly limits?: Partial<TransportLimits>;
}

/** Moves bytes between the members of a federation, and nobody else. */
export interface Transport extends AsyncDisposable {
  start(): Promise<void>;
  /**
   * Gossips `data`; answers the number of direct recipients, 0 when nobody is subscribed (it may then be published
   * again) or when the same bytes went out within two minutes. Throws `too-large` over the limit of a message.
   */
  publish(topic: Topic, data: Uint8Array): Promise<number>;
  /** Answers a protocol; one server a protocol, registered before or after `start`. */
  serve(protocol: MemberProtocol, serve: Serve): void;
  /**
   * Asks a connected member and yields its answer's frames. Ends normally only at the answer's end marker, so a cut
   * stream is an error (`cut`), never a short answer. Throws `TransportError`. Retry is the caller's.
   */
  request(
    node: string,
    protocol: MemberProtocol,
    request: Uint8Array,
    options?: { signal?: AbortSignal },
  ): AsyncIterable<Uint8Array>;
  /** Every other member, in roster order. */
  peers(): readonly PeerState[];
  onConnect(listener: (node: string) => void): () => void;
  onDisconnect(listener: (node: string) => void): () => void;
  /**
   * Applies a new roster without restart: removed members are hung up and kept out, new ones are dialled. Whoever cannot
   * be reached by what the roster says is left out.
   */
  setMembers(members: readonly TransportMember[]): Promise<void>;
  /** The addresses we listen on, once started. */
  addresses(): string[];
}
