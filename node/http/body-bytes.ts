import type { IncomingMessage } from 'node:http';
import { ArrivingBytes, giveBack } from './arriving-bytes.ts';
import { Problem } from './problem.ts';

interface ArrivingBody {
  bytes: number;
  readonly shed: () => void;
}

/** The place of one body in a budget. It must be given back, once. */
export interface BodyShare {
  /** Counts a piece that has arrived. May shed any body of the budget, this one too, before it returns. */
  grow(bytes: number): void;
  release(): void;
}

/**
 * A bound on the bytes of all bodies that are arriving. When a piece goes over it the largest body of all is shed, so
 * callers who fill the budget with large bodies that never end are the ones to go, and a small body gets through.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #arriving = new Set<ArrivingBody>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `shed` is called at most once, and releases the share. */
  open(shed: () => void): BodyShare {
    const body: ArrivingBody = { bytes: 0, shed };
    this.#arriving.add(body);
    return {
      grow: (bytes) => {
        body.bytes += bytes;
        this.#bytes += bytes;
        while (this.#bytes > this.#limit) this.#shedLargest();
      },
      release: () => this.#close(body),
    };
  }

  #shedLargest(): void {
    let largest: ArrivingBody | undefined;
    for (const body of this.#arriving) if (largest === undefined || body.bytes > largest.bytes) largest = body;
    if (largest === undefined) throw new RangeError('bytes are counted that no body has');
    this.#close(largest);
    largest.shed();
  }

  #close(body: ArrivingBody): void {
    if (this.#arriving.delete(body)) this.#bytes -= body.bytes;
  }
}

export interface ByteLimits {
  readonly maxBytes: number;
  /** From the call until the last byte, in milliseconds. */
  readonly deadlineMs: number;
  readonly budget: BodyBudget;
}

/** How long a peer may go on sending a body that was refused, before its connection is cut. */
const DISCARD_DEADLINE_MS = 5_000;
/** When a caller whose body found no room may send it again. In seconds. */
const RETRY_AFTER_SECONDS = 1;
/** Requests whose bodies are flowing into nothing. */
const DISCARDED = new WeakSet<IncomingMessage>();
/** What is checked of requests once their bodies are here. */
const CHECKS = new WeakMap<IncomingMessage, () => Promise<void>>();

/**
 * Has something checked once the body of a request is here, before anyone gets it: much may have changed while it
 * arrived. Of one that is here already nothing is. Whoever reads the body is thrown what `check` rejects with.
 */
export function checkOnceArrived(request: IncomingMessage, check: () => Promise<void>): void {
  if (!request.complete) CHECKS.set(request, check);
}

/** The bytes of a request's body. Throws what `readArriving` throws. */
export async function readBytes(request: IncomingMessage, limits: ByteLimits): Promise<Buffer> {
  const arrived = await readArriving(request, limits);
  return arrived.joinNow();
}

/** A body as it came, in memory of its own. Holds its place among bodies under work until it is disposed. */
export interface OwnBody extends Disposable {
  readonly bytes: Buffer<ArrayBuffer>;
}

/**
 * Puts a body together in time slices, once `enter` has made room for its bytes: others arrive meanwhile. Throws what
 * `readArriving` and `enter` throw.
 */
export async function readOwnBody(
  request: IncomingMessage,
  limits: ByteLimits,
  enter: (bytes: number) => Disposable,
): Promise<OwnBody> {
  const arrived = await readArriving(request, limits);
  using entering = new DisposableStack();
  entering.defer(() => arrived.clear());
  entering.use(enter(arrived.length));
  const bytes = await arrived.join();
  const place = entering.move();
  return { bytes, [Symbol.dispose]: () => place.dispose() };
}

/**
 * The bytes of a request's body. Throws `Problem`: `payload-too-large`, `request-timeout`, `request-aborted` or
 * `dependency-unavailable`; and what the request is refused with once it is here (`checkOnceArrived`).
 */
async function readArriving(request: IncomingMessage, limits: ByteLimits): Promise<ArrivingBytes> {
  const arrived = await allArriving(request, limits);
  try {
    await CHECKS.get(request)?.();
  } catch (error) {
    arrived.clear();
    throw error;
  }
  return arrived;
}

function allArriving(request: IncomingMessage, { maxBytes, deadlineMs, budget }: ByteLimits): Promise<ArrivingBytes> {
  const { socket } = request;
  if (request.destroyed || (socket.destroyed && !request.complete)) return Promise.reject(aborted());
  return new Promise((resolve, reject) => {
    const arriving = new ArrivingBytes();
    const stopListening = (): void => {
      clearTimeout(timer);
      share.release();
      socket.off('close', onClosed);
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
    };
    const refuse = (problem: Problem): void => {
      stopListening();
      arriving.clear();
      reject(problem);
      discard(request);
    };
    const share = budget.open(() => refuse(noCapacity()));
    const onData = (piece: Buffer): void => {
      const { length } = piece;
      if (arriving.length + length > maxBytes) {
        refuse(tooLarge(maxBytes));
        return;
      }
      arriving.push(piece);
      share.grow(length);
    };
    const onEnd = (): void => {
      stopListening();
      resolve(arriving);
    };
    const onGone = (): void => refuse(aborted());
    // A request whose broken body was answered hears no more of its connection.
    const onClosed = (): void => {
      if (!request.complete) onGone();
    };
    const timer = setTimeout(() => refuse(tooSlow(deadlineMs)), deadlineMs);
    socket.on('close', onClosed);
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/**
 * Lets what is left of a refused body flow into nothing; may be called again. Once it has ended, the connection can
 * carry the next request; a connection closed at once instead would be reset under the peer, who would then never read
 * why.
 */
export function discard(request: IncomingMessage): void {
  if (request.destroyed || request.complete) {
    request.resume();
    return;
  }
  if (DISCARDED.has(request)) return;
  DISCARDED.add(request);
  const timer = setTimeout(() => request.socket.destroy(), DISCARD_DEADLINE_MS).unref();
  const stop = (): void => clearTimeout(timer);
  request.on('data', giveBack).once('end', stop).once('close', stop).resume();
}

export function tooLarge(maxBytes: number): Problem {
  return new Problem('payload-too-large', `The body is larger than ${maxBytes} bytes.`);
}

function tooSlow(deadlineMs: number): Problem {
  const detail = `The body did not arrive within ${deadlineMs / 1000} s.`;
  return new Problem('request-timeout', detail, { headers: { connection: 'close' } });
}

function aborted(): Problem {
  return new Problem('request-aborted', 'The connection ended before the body did.');
}

function noCapacity(): Problem {
  return new Problem('dependency-unavailable', 'Too many large bodies are arriving at once.', {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });
}
