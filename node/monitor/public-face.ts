import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { FederationAnswerShape } from '../../protocol/api/node-answers.ts';
import { type EquivocationsAnswer, EquivocationsAnswerShape } from '../../protocol/api/equivocations.ts';
import {
  type ChainAnswer,
  ChainAnswerShape,
  type RostersAnswer,
  RostersAnswerShape,
  type SigningKeysAnswer,
  SigningKeysAnswerShape,
} from '../../protocol/api/public-record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { BodyTooLargeError, cappedBytes } from '../capped-body.ts';

/** `paced`: it has been asked enough for now · `slow`: it has taken all the time that a round has for it. */
export type FaceErrorCode = 'unreachable' | 'refused' | 'paced' | 'slow' | 'too-large' | 'unreadable';

export class FaceError extends Error {
  override readonly name = 'FaceError';
  readonly code: FaceErrorCode;

  constructor(code: FaceErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export type FederationAnswer = Static<typeof FederationAnswerShape>;

const REQUEST_TIMEOUT_MS = 10_000;
/** What all requests of one round to one node may take together: others wait meanwhile. In milliseconds. */
const ROUND_BUDGET_MS = 20_000;
/** A page has 512 KiB of statements and one entry more, which escaping may double. In bytes. */
const MAX_BODY_BYTES = 8 << 20;
/** Below what a node lets an address ask. In requests. */
const REQUESTS_PER_MINUTE = 100;
const MINUTE_MS = 60_000;

const federationAnswer = form('federation', FederationAnswerShape);
const chainAnswer = form('chain', ChainAnswerShape);
const keysAnswer = form('signing keys', SigningKeysAnswerShape);
const rostersAnswer = form('rosters', RostersAnswerShape);
const equivocationsAnswer = form('equivocations', EquivocationsAnswerShape);

export interface PublicFaceOptions {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Time for one round, in milliseconds. */
  readonly budgetMs?: number;
}

/**
 * What one node shows to anyone over HTTP. Nothing is believed beyond its form, and a hostile node costs no more than
 * one bounded answer a request, and one time-out a round. Every method throws `FaceError`.
 */
export class PublicFace {
  readonly url: string;
  readonly #options: PublicFaceOptions;
  /** When the requests of the last minute were made. */
  #asked: number[] = [];
  #notBefore = 0;
  /** Milliseconds that are left of this round's time. */
  #left: number;

  constructor(url: string, options: PublicFaceOptions) {
    this.url = url;
    this.#options = options;
    this.#left = options.budgetMs ?? ROUND_BUDGET_MS;
  }

  /** Gives it the time of another round. */
  beginRound(): void {
    this.#left = this.#options.budgetMs ?? ROUND_BUDGET_MS;
  }

  async federation(): Promise<FederationAnswer> {
    return federationAnswer(await this.#get('/v1/federation'));
  }

  async chain(node: NodeId, from: number): Promise<ChainAnswer> {
    return chainAnswer(await this.#get(`/v1/chains/${node}?from=${from}`));
  }

  async signingKeys(cursor: string | null): Promise<SigningKeysAnswer> {
    return keysAnswer(await this.#get(`/v1/signing-keys${queryOf(cursor)}`));
  }

  async rosters(from: number): Promise<RostersAnswer> {
    return rostersAnswer(await this.#get(`/v1/rosters?from=${from}`));
  }

  async equivocations(cursor: string | null): Promise<EquivocationsAnswer> {
    return equivocationsAnswer(await this.#get(`/v1/equivocations${queryOf(cursor)}`));
  }

  async #get(path: string): Promise<string> {
    this.#take();
    const { signal, timeoutMs = REQUEST_TIMEOUT_MS } = this.#options;
    const deadline = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, this.#left)));
    const began = performance.now();
    try {
      const response = await fetch(this.url + path, {
        headers: { accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.any([deadline, signal]),
      });
      const text = await textOf(response);
      if (response.status === 429) this.#notBefore = this.#options.now() + MINUTE_MS;
      if (!response.ok) throw new FaceError('refused', `${this.url}${path} answers ${response.status}`);
      return text;
    } catch (error) {
      if (error instanceof FaceError) throw error;
      throw new FaceError('unreachable', `${this.url} does not answer`, error);
    } finally {
      this.#left -= performance.now() - began;
    }
  }

  /** Throws `FaceError` `paced`, `slow`, `refused`. */
  #take(): void {
    const now = this.#options.now();
    this.#asked = this.#asked.filter((at) => at > now - MINUTE_MS && at <= now);
    if (now < this.#notBefore) throw new FaceError('refused', `${this.url} asks for patience`);
    if (this.#left < 1) throw new FaceError('slow', `${this.url} takes longer than a round has time for it`);
    if (this.#asked.length >= REQUESTS_PER_MINUTE) {
      throw new FaceError('paced', `${this.url} was asked enough for this minute`);
    }
    this.#asked.push(now);
  }
}

function queryOf(cursor: string | null): string {
  return cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
}

async function textOf(response: Response): Promise<string> {
  try {
    const bytes = await cappedBytes(response, MAX_BODY_BYTES);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw new FaceError('too-large', error.message, error);
    throw error;
  }
}

function form<Shape extends TSchema>(name: string, shape: Shape): (text: string) => Static<Shape> {
  const compiled = Compile(shape);
  return (text) => {
    let value: unknown;
    try {
      value = parseJson(text);
    } catch (error) {
      throw new FaceError('unreadable', `the ${name} is not JSON`, error);
    }
    if (!compiled.Check(value)) throw new FaceError('unreadable', `the ${name} has another shape`);
    return value;
  };
}
