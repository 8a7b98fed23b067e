import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What a connection came to: an answer; closed before there was one; neither in time. */
export type Outcome = RawAnswer | 'closed' | 'silent';

/** Between the pieces of a request that is sent in several. */
const PIECE_PAUSE_MS = 15;
/** How long an answer may take, on a machine with other things to do. */
const PATIENCE_MS = 30_000;
const END_OF_CHUNKS = Buffer.from('\r\n0\r\n\r\n');
const CLOSING_BRACE = 125;
const MANY_PIECES = 40;

interface Parsed {
  readonly answer: RawAnswer;
  readonly length: number;
}

/** A keep-alive connection that sends whatever bytes it is given and reads one answer at a time. */
export class RawConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #received: Buffer[] = [];
  #wake: () => void = () => {};

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends the pieces and reads the answer to them. A connection that the server closed is opened again. */
  async exchange(
    pieces: readonly Uint8Array[],
    { noBody = false, half = false, patienceMs = PATIENCE_MS } = {},
  ): Promise<Outcome> {
    const socket = await this.#open();
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await delay(PIECE_PAUSE_MS);
      if (socket.writable) socket.write(piece);
    }
    if (half) socket.end();
    return this.#read(socket, noBody, performance.now() + patienceMs);
  }

  /** Sends what is no whole request, and holds the connection. */
  async begin(piece: Uint8Array): Promise<void> {
    (await this.#open()).write(piece);
  }

  /** Sends the pieces and goes away. */
  async cut(pieces: readonly Uint8Array[]): Promise<void> {
    const socket = await this.#open();
    for (const piece of pieces) socket.write(piece);
    await delay(1);
    socket.resetAndDestroy();
    this.#socket = undefined;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #open(): Promise<Socket> {
    const { readyState } = this.#socket ?? {};
    if (this.#socket !== undefined && readyState === 'open') return this.#socket;
    const socket = connect(this.#port, '127.0.0.1');
    this.#socket = socket;
    this.#received = [];
    socket.on('data', (chunk: Buffer) => {
      this.#received.push(chunk);
      this.#wake();
    });
    socket.on('error', () => {}).on('close', () => this.#wake());
    await once(socket, 'connect');
    return socket;
  }

  async #read(socket: Socket, noBody: boolean, deadline: number): Promise<Outcome> {
    for (;;) {
      const parsed = isPlausible(this.#received) ? this.#parse(noBody) : undefined;
      if (parsed !== undefined) {
        if (parsed.answer.status < 200) continue;
        if (parsed.answer.headers.get('connection') === 'close' || this.#received.length > 0) this.close();
        return parsed.answer;
      }
      if (socket.destroyed || socket.readableEnded) return 'closed';
      const left = deadline - performance.now();
      if (left <= 0) {
        this.close();
        return 'silent';
      }
      await this.#change(left);
    }
  }

  #parse(noBody: boolean): Parsed | undefined {
    const whole = Buffer.concat(this.#received);
    const parsed = parseAnswer(whole, noBody);
    if (parsed !== undefined) this.#received = parsed.length < whole.length ? [whole.subarray(parsed.length)] : [];
    return parsed;
  }

  #change(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Whether the pieces may hold a whole answer. Those of a long one are put together only where they look like its end.
 */
function isPlausible(pieces: readonly Buffer[]): boolean {
  if (pieces.length < MANY_PIECES) return true;
  const last = Buffer.concat(pieces.slice(-2));
  return last.at(-1) === CLOSING_BRACE || last.subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS);
}

/** The first whole answer in the bytes; undefined while it is not all there. */
function parseAnswer(bytes: Buffer, noBody: boolean): Parsed | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
  const headers = new Map(lines.map((line) => headerOf(line)));
  const start = end + 4;
  if (noBody || status < 200 || status === 204 || status === 304) {
    return { answer: { status, headers, body: '' }, length: start };
  }
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = parseChunks(bytes, start);
    return chunked && { answer: { status, headers, body: chunked.body }, length: chunked.length };
  }
  const length = start + Number(headers.get('content-length') ?? 0);
  if (bytes.length < length) return undefined;
  return { answer: { status, headers, body: bytes.toString('utf8', start, length) }, length };
}

function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function parseChunks(bytes: Buffer, from: number): { readonly body: string; readonly length: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = from; ;) {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    const next = end + 2 + size + 2;
    if (bytes.length < next) return undefined;
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    if (size === 0) return { body: Buffer.concat(parts).toString('utf8'), length: next };
    at = next;
  }
}
