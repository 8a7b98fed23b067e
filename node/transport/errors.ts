import type { WireFault } from './contract.ts';

/**
 * Why the transport could not do what was asked.
 * `unreachable`: not a member, or not connected · `timeout`: a named time-out passed · `busy`: too many at once, try
 * again later · `too-large`: over a limit of size · `refused`: the peer will not answer this · `failed`: the peer broke
 * while answering · `cut`: the stream ended before its end marker · `aborted`: our own signal, or disposal ·
 * `malformed`: bytes or a roster entry that cannot be read.
 */
export type TransportErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'busy'
  | 'too-large'
  | 'refused'
  | 'failed'
  | 'cut'
  | 'aborted'
  | 'malformed';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** The node cannot listen where it is told to be reached by its peers. */
export class PeerListenError extends Error {
  override readonly name = 'PeerListenError';
}

/** Names of what libp2p throws at a start for addresses that it cannot listen on, or that are none. */
const LISTEN_FAULTS = new Set(['UnsupportedListenAddressesError', 'InvalidMultiaddrError']);
/** In what libp2p says: the first address at fault, and why. The stack stands below. */
const ADDRESS_AT_FAULT = /^ {2}(\/.*)$/m;

/** What a start failed by: a `PeerListenError` of one line where an address of `PEER_LISTEN` is at fault. */
export function startFaultOf(error: unknown): unknown {
  if (!(error instanceof Error) || !LISTEN_FAULTS.has(error.name)) return error;
  const [line = ''] = error.message.split('\n');
  return new PeerListenError(`PEER_LISTEN: ${ADDRESS_AT_FAULT.exec(error.message)?.[1] ?? line}`, { cause: error });
}

/** Text of anything thrown, for logs and states. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** What reading the peer's bytes failed for, where that is the peer's doing; null for a network that broke. */
export function wireFaultOf(error: unknown): WireFault | null {
  if (error instanceof TransportError) {
    if (error.code === 'malformed') return 'malformed';
    if (error.code === 'too-large') return 'oversize';
    return error.code === 'timeout' ? 'slow' : null;
  }
  return error instanceof Error && error.name === 'TimeoutError' ? 'slow' : null;
}
