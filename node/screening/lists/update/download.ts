import {
  type HttpDownload,
  HttpError,
  httpDownload,
  isConditional,
  type Validators,
} from '../../../outbound/http-client.ts';
import { ListError } from '../list-error.ts';

export type Download =
  | { readonly unchanged: true }
  | { readonly unchanged: false; readonly validators: Validators; readonly bytes: () => AsyncIterable<Uint8Array> };

/** Longest wait for an answer, and for each further piece of it. In milliseconds. */
const ANSWER_MS = 30_000;

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
  const answer = await ask(url, known, signal, answerMs);
  const { status, validators, body } = answer;
  if (status === 200) return { unchanged: false, validators, bytes: () => bodyOf(url, body()) };
  await answer.discard();
  if (status === 304 && known !== undefined && isConditional(known)) return { unchanged: true };
  throw new ListError('download', `${hostOf(url)} answers ${status}`);
}

async function ask(
  url: string,
  validators: Validators | undefined,
  signal: AbortSignal,
  silenceMs: number,
): Promise<HttpDownload> {
  const headers = { 'accept-encoding': 'identity' };
  try {
    return await httpDownload(url, { headers, redirects: 'follow', validators, silenceMs, signal });
  } catch (error) {
    throw refusalOf(url, error);
  }
}

async function* bodyOf(url: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    throw refusalOf(url, error);
  }
}

/** Addresses may hold tokens: a message names the host alone. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'the source';
}

function refusalOf(url: string, error: unknown): Error {
  const code = error instanceof HttpError ? error.code : 'unreachable';
  if (code === 'aborted') return new ListError('download', 'it was given up', error);
  if (error instanceof HttpError && code !== 'unreachable') {
    return new ListError('download', `${hostOf(url)} ${error.message}`, error);
  }
  return new ListError('download', `${hostOf(url)} did not send the file whole, or cannot be reached`, error);
}
