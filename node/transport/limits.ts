import { ALL_MEMBERS_ALLOWANCE, MEMBER_ALLOWANCE } from '../accounts/limits/allowances.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Every bound of the transport. Sizes in bytes, times in milliseconds, rates per second. What one member, and all of
 * them, may ask of a node stands in the table of allowances.
 */
export interface TransportLimits {
  /** Largest gossiped message, ours or a peer's. */
  messageBytes: number;
  /** Gossip messages under validation at once; one more is ignored and comes by catch-up. */
  validationsInFlight: number;
  validationsInFlightPerPeer: number;
  /** Gossip that one author hands over beyond this is ignored and comes by catch-up: no member alone keeps us busy. */
  messageRatePerPeer: number;
  messageBurstPerPeer: number;
  requestBytes: number;
  frameBytes: number;
  /** Whole answer to one request, headers included. */
  answerBytes: number;
  /** Unsent bytes of one answer at which the server stops asking for more frames. */
  unsentBytes: number;
  /** Unread bytes of one stream at which the reader stops granting window. */
  unreadBytes: number;
  openTimeout: number;
  firstFrameTimeout: number;
  frameTimeout: number;
  requestTimeout: number;
  requestsInFlightPerPeer: number;
  requestsInFlight: number;
  /** Of `status` and `batches`, which an honest member asks for one at a time. */
  pagesInFlightPerPeer: number;
  /** What answering one member may cost in a minute, of the processor and in bytes, and what all may. */
  processorMsPerPeer: number;
  bytesPerPeer: number;
  processorMs: number;
  requestRatePerPeer: number;
  requestBurstPerPeer: number;
  requestRate: number;
  requestBurst: number;
  connections: number;
  /** Connections from outside of which nobody knows yet whose they are. */
  handshakes: number;
  /**
   * New ones from one IP address; several nodes of one machine share an address. With `handshakeTimeout` it bounds what
   * one address can hold, below `handshakes`: a stranger alone cannot take every place.
   */
  handshakeRatePerAddress: number;
  handshakeTimeout: number;
  /** Streams of one member that are open to be asked on, asked or not. An honest one has at most 64 a protocol. */
  conversationsPerPeer: number;
  /** Gossiped messages, copies among them, that one member may hand over before anything of them is looked at. */
  arrivalRatePerPeer: number;
  arrivalBurstPerPeer: number;
  /** Refused pages and streams of one member, beyond which it floods. */
  refusalRatePerPeer: number;
  refusalBurstPerPeer: number;
  /** How long a member that floods is kept out. */
  keptOut: number;
  dialTimeout: number;
  redialTick: number;
  redialFirst: number;
  redialMost: number;
  /** A connection that lived this long counts as good, and the next redial starts from `redialFirst`. */
  redialForgiveAfter: number;
  /** A member that is to dial us and has been missing for longer than this is dialled: its way to us may be closed. */
  dialAnyway: number;
  watchdogTick: number;
  /** A connected peer without our topics for longer than this is hung up. */
  unsubscribedMost: number;
  pingInterval: number;
  /** Least time a ping may take before its connection is dropped. */
  pingTimeout: number;
}

export const DEFAULT_LIMITS: Readonly<TransportLimits> = {
  messageBytes: 64 * KIB,
  validationsInFlight: ALL_MEMBERS_ALLOWANCE.messagesUnderWay,
  validationsInFlightPerPeer: MEMBER_ALLOWANCE.messagesUnderWay,
  messageRatePerPeer: MEMBER_ALLOWANCE.messagesPerSecond,
  messageBurstPerPeer: MEMBER_ALLOWANCE.messagesAtOnce,
  requestBytes: 64 * KIB,
  frameBytes: MIB,
  answerBytes: 4 * MIB,
  unsentBytes: MEMBER_ALLOWANCE.unsentBytes,
  unreadBytes: 256 * KIB,
  openTimeout: 5_000,
  firstFrameTimeout: 10_000,
  frameTimeout: 10_000,
  requestTimeout: 60_000,
  requestsInFlightPerPeer: 8,
  requestsInFlight: 32,
  pagesInFlightPerPeer: MEMBER_ALLOWANCE.pagesUnderWay,
  processorMsPerPeer: MEMBER_ALLOWANCE.processorMsPerMinute,
  bytesPerPeer: MEMBER_ALLOWANCE.bytesPerMinute,
  processorMs: ALL_MEMBERS_ALLOWANCE.processorMsPerMinute,
  requestRatePerPeer: 50,
  requestBurstPerPeer: 100,
  requestRate: 200,
  requestBurst: 400,
  connections: 128,
  handshakes: 128,
  handshakeRatePerAddress: 20,
  handshakeTimeout: 5_000,
  conversationsPerPeer: MEMBER_ALLOWANCE.streams,
  arrivalRatePerPeer: MEMBER_ALLOWANCE.arrivalsPerSecond,
  arrivalBurstPerPeer: MEMBER_ALLOWANCE.arrivalsAtOnce,
  refusalRatePerPeer: 50,
  refusalBurstPerPeer: 500,
  keptOut: 30_000,
  dialTimeout: 5_000,
  redialTick: 500,
  redialFirst: 500,
  redialMost: 10_000,
  redialForgiveAfter: 10_000,
  dialAnyway: 15_000,
  watchdogTick: 1_000,
  unsubscribedMost: 5_000,
  pingInterval: 10_000,
  pingTimeout: 15_000,
};

/**
 * The defaults with some replaced.
 * @throws RangeError for a limit that is not a positive number
 */
export function limitsFrom(some: Partial<TransportLimits> = {}): Readonly<TransportLimits> {
  const limits = { ...DEFAULT_LIMITS, ...some };
  for (const [name, value] of Object.entries(limits)) {
    if (!(value > 0)) throw new RangeError(`transport limit ${name} must be a positive number, not ${value}`);
  }
  return limits;
}
