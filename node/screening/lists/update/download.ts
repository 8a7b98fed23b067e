import { followRedirects, RedirectError } from '../../../outbound/redirects.ts';
import { ListError } from '../list-error.ts';

/** What a source said of a file the last time, so that it need not send the same again. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export type Download =
  | { readonly unchanged: true }
  | { readonly unchanged: false; readonly validators: Validators; readonly bytes: () => AsyncIterable<Uint8Array> };

/** Longest wait for an answer, and for each further piece of it. In milliseconds. */
const ANSWER_MS = 30_000;
/** Longest validator that is kept. */
const MAX_VALIDATOR_CHARACTERS = 512;

/**
 * Asks a source for a file; it may say that nothing has changed. Follows redirects where `followRedirects` does. The
 * body is read, and bounded, by the caller. Throws `ListError`.
 */
export async function download(
  url: string,
  known: Validators | undefined,
  signal: AbortSignal,
  answerMs = ANSWER_MS,
): Promise<Download> {
  const { etag, lastModified } = known ?? { etag: null, lastModified: null };
  const headers = {
    'accept-encoding': 'identity',
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(lastModified === null ? {} : { 'if-modified-since': lastModified }),
  };
  const response = await follow(url, headers, signal, answerMs);
  if (response.status === 304 && known !== undefined) {
    await response.body?.cancel();
    return { unchanged: true };
  }
  const { body } = response;
  if (response.status !== 200 || body === null) {
    await body?.cancel();
    throw new ListError('download', `${hostOf(url)} answers ${response.status}`);
  }
  const validators = {
    etag: validator(response.headers.get('etag')),
    lastModified: validator(response.headers.get('last-modified')),
  };
  return { unchanged: false, validators, bytes: () => bodyOf(url, body, signal, answerMs) };
}

async function follow(
  first: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  answerMs: number,
): Promise<Response> {
  try {
    return await followRedirects(new URL(first), (url) => get(url.href, headers, signal, answerMs));
  } catch (error) {
    if (error instanceof RedirectError) throw new ListError('download', `${hostOf(first)} ${error.message}`, error);
    throw error;
  }
}

async function get(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  answerMs: number,
): Promise<Response> {
  // Bounds the wait for the answer alone: the body has a bound of its own for each piece.
  const wait = new AbortController();
  const timer = setTimeout(() => wait.abort(new ListError('download', `${hostOf(url)} does not answer`)), answerMs);
  try {
    return await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.any([signal, wait.signal]) });
  } catch (error) {
    throw refusal(url, error, signal);
  } finally {
    clearTimeout(timer);
  }
}

async function* bodyOf(
  url: string,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  answerMs: number,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), url, signal, answerMs);
      if (done) return;
      yield value;
    }
  } finally {
    // What is under way must not keep the process.
    reader.cancel().catch(() => undefined);
  }
}

async function within<Value>(work: Promise<Value>, url: string, signal: AbortSignal, answerMs: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new ListError('download', `${hostOf(url)} sends nothing more`)), answerMs);
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    throw refusal(url, error, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Addresses may hold tokens: a message names the host alone. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'the source';
}

function refusal(url: string, error: unknown, signal: AbortSignal): Error {
  if (error instanceof ListError) return error;
  if (signal.aborted) return new ListError('download', 'it was given up', error);
  return new ListError('download', `${hostOf(url)} did not send the file whole, or cannot be reached`, error);
}

function validator(text: string | null): string | null {
  return text === null || text.length > MAX_VALIDATOR_CHARACTERS ? null : text;
}
