import type { NodeId } from '../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { type TileName, writeTilePath } from '../../protocol/log/tile-path.ts';
import { HttpError, httpRequest } from '../outbound/http-client.ts';
import {
  AnswerError,
  chainAnswer,
  checkpointsAnswer,
  equivocationsAnswer,
  type FederationView,
  misdeedProofsAnswer,
  readFederationView,
  rostersAnswer,
  signingKeysAnswer,
} from './public-answers.ts';

/** `paced`: it has been asked enough for now · `slow`: it has taken all the time that a round has for it. */
export type PublicNodeErrorCode =
  | 'unreachable'
  | 'refused'
  | 'not-found'
  | 'paced'
  | 'slow'
  | 'too-large'
  | 'unreadable';

export class PublicNodeError extends Error {
  override readonly name = 'PublicNodeError';
  readonly code: PublicNodeErrorCode;

  constructor(code: PublicNodeErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const REQUEST_TIMEOUT_MS = 10_000;
/** What all requests of one round to one node may take together: others wait meanwhile. In milliseconds. */
const POLL_BUDGET_MS = 20_000;
/** A page has 512 KiB of statements and one entry more, which escaping may double. In bytes. */
const MAX_BODY_BYTES = 8 << 20;
/** Below what a node lets an address ask. In requests. */
const REQUESTS_PER_MINUTE = 100;
const MINUTE_MS = 60_000;
const TOO_MANY_REQUESTS = 429;
const NOT_FOUND = 404;

export interface PublicNodeOptions {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Time for one round, in milliseconds. */
  readonly budgetMs?: number;
}

/**
 * What one node shows to anyone over HTTP. Nothing is believed beyond its form, and a hostile node costs no more than
 * one bounded answer a request, and one time-out a round. Every method throws `PublicNodeError`.
 */
export class PublicNode {
  readonly url: string;
  readonly #options: PublicNodeOptions;
  /** When the requests of the last minute were made. */
  #asked: number[] = [];
  #notBefore = 0;
  /** Milliseconds that are left of this round's time. */
  #left: number;

  constructor(url: string, options: PublicNodeOptions) {
    this.url = url;
    this.#options = options;
    this.#left = options.budgetMs ?? POLL_BUDGET_MS;
  }

  /** Gives it the time of another round. */
  beginPoll(): void {
    this.#left = this.#options.budgetMs ?? POLL_BUDGET_MS;
  }

  federation(): Promise<FederationView> {
    return this.#read('/v1/federation', readFederationView);
  }

  chain(node: NodeId, from: number): Promise<ReturnType<typeof chainAnswer>> {
    return this.#read(`/v1/chains/${node}?from=${from}`, chainAnswer);
  }

  signingKeys(cursor: string | null): Promise<ReturnType<typeof signingKeysAnswer>> {
    return this.#read(`/v1/signing-keys${queryOf(cursor)}`, signingKeysAnswer);
  }

  rosters(from: number): Promise<ReturnType<typeof rostersAnswer>> {
    return this.#read(`/v1/rosters?from=${from}`, rostersAnswer);
  }

  async checkpoints(): Promise<readonly SignedCheckpoint[]> {
    return (await this.#read('/v1/log/checkpoints', checkpointsAnswer)).checkpoints;
  }

  /** Bytes of a tile of its log. */
  tile(name: TileName): Promise<Uint8Array> {
    return this.#get(`/v1/log/${writeTilePath(name)}`);
  }

  equivocations(cursor: string | null): Promise<ReturnType<typeof equivocationsAnswer>> {
    return this.#read(`/v1/equivocations${queryOf(cursor)}`, equivocationsAnswer);
  }

  /** Files that prove what a node did. */
  misdeedProofs(accused: NodeId, cursor: string | null): Promise<ReturnType<typeof misdeedProofsAnswer>> {
    return this.#read(`/v1/equivocations/${accused}${queryOf(cursor)}`, misdeedProofsAnswer);
  }

  async #read<Value>(path: string, read: (text: string) => Value): Promise<Value> {
    const bytes = await this.#get(path);
    try {
      return read(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch (error) {
      if (error instanceof AnswerError || error instanceof TypeError) {
        throw new PublicNodeError('unreadable', error.message, error);
      }
      throw error;
    }
  }

  async #get(path: string): Promise<Uint8Array> {
    this.#take();
    const { signal, timeoutMs = REQUEST_TIMEOUT_MS } = this.#options;
    const began = performance.now();
    try {
      const { status, ok, bytes } = await httpRequest(this.url + path, {
        headers: { accept: 'application/json, application/octet-stream' },
        timeoutMs: Math.ceil(Math.min(timeoutMs, this.#left)),
        maxBytes: MAX_BODY_BYTES,
        signal,
      });
      if (status === TOO_MANY_REQUESTS) this.#notBefore = this.#options.now() + MINUTE_MS;
      if (ok) return bytes;
      const code = status === NOT_FOUND ? 'not-found' : 'refused';
      throw new PublicNodeError(code, `${this.url}${path} answers ${status}`);
    } catch (error) {
      if (error instanceof PublicNodeError) throw error;
      const isTooLarge = error instanceof HttpError && error.code === 'too-large';
      if (isTooLarge) throw new PublicNodeError('too-large', error.message, error);
      throw new PublicNodeError('unreachable', `${this.url} does not answer`, error);
    } finally {
      this.#left -= performance.now() - began;
    }
  }

  /** Throws `PublicNodeError` `paced`, `slow`, `refused`. */
  #take(): void {
    const now = this.#options.now();
    this.#asked = this.#asked.filter((at) => at > now - MINUTE_MS && at <= now);
    if (now < this.#notBefore) throw new PublicNodeError('refused', `${this.url} asks for patience`);
    if (this.#left < 1) throw new PublicNodeError('slow', `${this.url} takes longer than a round has time for it`);
    if (this.#asked.length >= REQUESTS_PER_MINUTE) {
      throw new PublicNodeError('paced', `${this.url} was asked enough for this minute`);
    }
    this.#asked.push(now);
  }
}

function queryOf(cursor: string | null): string {
  return cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
}
