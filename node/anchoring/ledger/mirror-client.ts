import type { EntityId } from '../../../protocol/ids.ts';
import type { ConsensusTimestamp } from '../../../protocol/time.ts';
import { type HttpAnswer, HttpError, httpRequest } from '../../outbound/http-client.ts';
import type { TransactionId } from './ledger-client.ts';
import { readClock, readMessages, readTransactions, type MirrorMessage } from './mirror-shapes.ts';

/** What becomes of a transaction id, by the word of a mirror. */
export type TransactionStatus =
  /** Its message is on the ledger. */
  | { readonly kind: 'success'; readonly consensusTimestamp: ConsensusTimestamp }
  /** It is not, and its validity is over: nothing can bring these bytes onto the ledger any more. */
  | { readonly kind: 'dead'; readonly result: string | null }
  | { readonly kind: 'undecided' };

export type MirrorErrorCode = 'unreachable' | 'refused' | 'too-large' | 'unreadable';

export class MirrorError extends Error {
  override readonly name = 'MirrorError';
  readonly code: MirrorErrorCode;

  constructor(code: MirrorErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Messages in a page: the most that a public mirror gives. */
export const PAGE_MESSAGES = 100;

const REQUEST_TIMEOUT_MS = 5_000;
/** A page of 100 messages of 1,024 bytes has some 200 kB. In bytes. */
const MAX_BODY_BYTES = 2 << 20;
/** A mirror's clock must be past the end of validity by so much before an absence counts. In seconds. */
const DEAD_MARGIN_SECONDS = 1;

/** The REST API of mirror nodes, `/api/v1`. Every answer is read by strict shapes; none is believed beyond its form. */
export class MirrorClient {
  readonly mirrors: readonly string[];
  readonly #timeoutMs: number;

  /** Throws `RangeError` unless there is at least one mirror. */
  constructor(mirrors: readonly string[], options: { readonly timeoutMs?: number } = {}) {
    if (mirrors.length === 0) throw new RangeError('at least one mirror is needed');
    this.mirrors = mirrors.map((url) => new URL(url).href.replace(/\/$/, ''));
    this.#timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS;
  }

  /** Up to 100 messages after a sequence number, by one mirror. Empty for a topic that it does not know yet. */
  async messages(mirror: string, topicId: EntityId, after: number, signal?: AbortSignal): Promise<MirrorMessage[]> {
    const query = `limit=${PAGE_MESSAGES}&order=asc&sequencenumber=gt:${after}`;
    const body = await this.#get(mirror, `/topics/${topicId}/messages?${query}`, signal);
    return body === null ? [] : readMessages(body, topicId);
  }

  /**
   * What became of a transaction that is valid until an epoch second. One mirror that shows it decides; so does one
   * whose own clock is past its validity and that does not. Mirrors that cannot be read say nothing.
   */
  async fate(id: TransactionId, validUntil: number, signal?: AbortSignal): Promise<TransactionStatus> {
    let verdict: TransactionStatus = { kind: 'undecided' };
    for (const mirror of this.mirrors) {
      const fate = await this.#fateBy(mirror, id, validUntil, signal).catch(ignoreMirrorFailure);
      if (fate.kind === 'success') return fate;
      if (fate.kind === 'dead') verdict = fate;
    }
    return verdict;
  }

  /** The clock is read before the transaction: what the mirror then lacks cannot lie before that clock. */
  async #fateBy(
    mirror: string,
    id: TransactionId,
    validUntil: number,
    signal?: AbortSignal,
  ): Promise<TransactionStatus> {
    const clock = readClock(await this.#get(mirror, '/blocks?limit=1&order=desc', signal));
    const body = await this.#get(mirror, `/transactions/${restTransactionId(id)}`, signal);
    const rows = body === null ? [] : readTransactions(body);
    const success = rows.find((row) => row.result === 'SUCCESS');
    if (success !== undefined) return { kind: 'success', consensusTimestamp: success.consensusTimestamp };
    const isOver = Number(clock.split('.')[0]) > validUntil + DEAD_MARGIN_SECONDS;
    return isOver ? { kind: 'dead', result: rows[0]?.result ?? null } : { kind: 'undecided' };
  }

  /** A message of the topic and, but for the first, the one before it: what its running hash is recomputed from. */
  async messageAt(mirror: string, topicId: EntityId, sequence: number, signal?: AbortSignal): Promise<MirrorMessage[]> {
    const query = `limit=2&order=asc&sequencenumber=gte:${Math.max(1, sequence - 1)}&sequencenumber=lte:${sequence}`;
    const body = await this.#get(mirror, `/topics/${topicId}/messages?${query}`, signal);
    return body === null ? [] : readMessages(body, topicId);
  }

  /**
   * Text of the resource at a path below `/api/v1`, every character as the mirror sent it; null for 404. Throws
   * `MirrorError`.
   */
  async text(mirror: string, path: string, signal?: AbortSignal): Promise<string | null> {
    let answer: HttpAnswer;
    let text: string;
    try {
      answer = await httpRequest(`${mirror}/api/v1${path}`, {
        headers: { accept: 'application/json' },
        timeoutMs: this.#timeoutMs,
        maxBytes: MAX_BODY_BYTES,
        signal,
      });
      text = textOf(answer.bytes);
    } catch (error) {
      const isTooLarge = error instanceof HttpError && error.code === 'too-large';
      if (isTooLarge) throw new MirrorError('too-large', error.message, error);
      throw new MirrorError('unreachable', `${mirror} does not answer`, error);
    }
    if (answer.status === 404) return null;
    if (!answer.ok) throw new MirrorError('refused', `${mirror} answers ${answer.status}`);
    return text;
  }

  /** Parsed JSON; null for 404. Throws `MirrorError`. */
  async #get(mirror: string, path: string, signal?: AbortSignal): Promise<unknown> {
    const text = await this.text(mirror, path, signal);
    if (text === null) return null;
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new MirrorError('unreadable', `${mirror} answers no JSON`, error);
    }
  }
}

/** A byte order mark is kept: it is a character that the mirror sent. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

function ignoreMirrorFailure(): TransactionStatus {
  return { kind: 'undecided' };
}

/** REST writes `0.0.x-sss-nnnnnnnnn`. */
function restTransactionId(id: TransactionId): string {
  return id.replace('@', '-').replace(/\.(\d+)$/, '-$1');
}
