import { followRedirects, isRedirect, RedirectError } from './redirects.ts';

/**
 * `aborted`: the caller gave up · `late`: no answer, or no whole one, in time · `redirect`: it leads to an address that
 * is not followed · `too-large`: its body is over the limit · `unreachable`: the connection failed.
 */
export type HttpErrorCode = 'aborted' | 'late' | 'redirect' | 'too-large' | 'unreachable';

interface HttpErrorDetail {
  readonly status?: number | null;
  readonly cause?: unknown;
}

/** There is no answer, or no whole one. The message is a predicate: "does not answer in 5000 ms". */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  /** Of the answer whose body was not read whole; null where none began. */
  readonly status: number | null;

  constructor(code: HttpErrorCode, message: string, { status = null, cause }: HttpErrorDetail = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
  }
}

/** What a server said of a document, sent along with the next request for it (RFC 9110 §13.1). Null: nothing. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Sends it. Default: that of the process. */
  readonly fetch?: typeof fetch;
}

/**
 * A GET follows redirects where it says so and `followRedirects` allows it; its headers go along, so it carries no
 * credentials then. Everything else is answered by the address that was asked: a redirect is a `HttpError`.
 */
export type HttpRequest = RequestOptions &
  (
    | {
        readonly method?: 'GET';
        readonly redirects?: 'follow' | 'refuse';
        /** Makes the request conditional: the status is 304 where the document is still the same. */
        readonly validators?: Validators | undefined;
      }
    | { readonly method: 'POST'; readonly body: string }
  );

/** Limits of a request whose answer is read whole. */
export interface AnswerLimits {
  /** From the request to the last byte. In milliseconds. */
  readonly timeoutMs: number;
  /** Of the body, unpacked. */
  readonly maxBytes: number;
}

/** An answer, read to its end. */
export interface HttpAnswer {
  readonly status: number;
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  readonly headers: Headers;
  readonly validators: Validators;
  readonly bytes: Uint8Array;
}

/** An answer whose body is still to come. */
export interface HttpDownload extends Omit<HttpAnswer, 'bytes'> {
  /** The body, once. Its caller bounds its length. Throws `HttpError` `late`, `aborted` and `unreachable`. */
  readonly body: () => AsyncIterable<Uint8Array>;
  /** Ends the connection of a body that is not read. */
  readonly discard: () => Promise<void>;
}

/** A longer validator is not sent back. In characters. */
const MAX_VALIDATOR_CHARACTERS = 1_000;

/** Sends a request and reads its whole answer, whatever its status. Throws `HttpError`. */
export async function httpRequest(url: string, request: HttpRequest & AnswerLimits): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const { signal = NEVER_ABORTED, maxBytes, timeoutMs } = request;
  let status: number | null = null;
  try {
    const response = await answerTo(url, request, AbortSignal.any([signal, deadline]));
    ({ status } = response);
    return { ...headOf(response), bytes: await cappedBytes(response, maxBytes) };
  } catch (error) {
    throw failureOf(error, { signal, late: deadline, lateMessage: `does not answer in ${timeoutMs} ms`, status });
  }
}

/**
 * Sends a request whose answer is read piece by piece. `silenceMs`: longest wait for the answer, and for each piece of
 * its body. The caller reads the body or discards it. Throws `HttpError`.
 */
export async function httpDownload(
  url: string,
  request: HttpRequest & { readonly silenceMs: number },
): Promise<HttpDownload> {
  const { signal = NEVER_ABORTED, silenceMs } = request;
  // The wait for the answer alone ends with it: the body has a limit of its own for each piece.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), silenceMs);
  try {
    const response = await answerTo(url, request, AbortSignal.any([signal, late.signal]));
    return {
      ...headOf(response),
      body: () => piecesOf(response, signal, silenceMs),
      discard: async () => response.body?.cancel(),
    };
  } catch (error) {
    const lateMessage = `does not answer in ${silenceMs} ms`;
    throw failureOf(error, { signal, late: late.signal, lateMessage, status: null });
  } finally {
    clearTimeout(timer);
  }
}

const NEVER_ABORTED = new AbortController().signal;

async function answerTo(url: string, request: HttpRequest, signal: AbortSignal): Promise<Response> {
  const { fetch: send = fetch } = request;
  if (request.method === 'POST') {
    const { headers = {}, body } = request;
    return refuseRedirect(await send(url, { method: 'POST', headers, body, redirect: 'manual', signal }));
  }
  const { redirects = 'refuse', validators } = request;
  const headers = { ...request.headers, ...conditionsOf(validators) };
  const get = (at: URL): Promise<Response> => send(at, { headers, redirect: 'manual', signal });
  if (redirects === 'follow') return followRedirects(new URL(url), get);
  return refuseRedirect(await get(new URL(url)));
}

function conditionsOf(validators: Validators | undefined): Readonly<Record<string, string>> {
  const { etag = null, lastModified = null } = validators ?? {};
  return {
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(lastModified === null ? {} : { 'if-modified-since': lastModified }),
  };
}

async function refuseRedirect(response: Response): Promise<Response> {
  if (!isRedirect(response.status)) return response;
  await response.body?.cancel();
  throw new RedirectError('leads to another address');
}

function headOf({ status, ok, headers }: Response): Omit<HttpAnswer, 'bytes'> {
  const validators = {
    etag: validatorOf(headers.get('etag')),
    lastModified: validatorOf(headers.get('last-modified')),
  };
  return { status, ok, headers, validators };
}

function validatorOf(text: string | null): string | null {
  return text === null || text.length > MAX_VALIDATOR_CHARACTERS ? null : text;
}

/** Stops after `maxBytes`: a small compressed body may unpack to any length. Empty where there is no body. */
async function cappedBytes(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels what is still to come.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      throw new HttpError('too-large', `an answer over ${maxBytes} bytes`, { status: response.status });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function* piecesOf(response: Response, signal: AbortSignal, silenceMs: number): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const late = new AbortController();
  try {
    for (;;) {
      const { promise: ended, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        late.abort();
        reject(late.signal.reason);
      }, silenceMs);
      const { done, value } = await Promise.race([reader.read(), ended]).finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } catch (error) {
    const lateMessage = `sends nothing more in ${silenceMs} ms`;
    throw failureOf(error, { signal, late: late.signal, lateMessage, status: response.status });
  } finally {
    // Not waited for: a connection that is silent would keep the caller.
    reader.cancel().catch(() => undefined);
  }
}

/** What ended a request: the caller's signal comes first, then the time that was over. */
function failureOf(
  error: unknown,
  {
    signal,
    late,
    lateMessage,
    status,
  }: Readonly<Record<'signal' | 'late', AbortSignal>> & {
    readonly lateMessage: string;
    readonly status: number | null;
  },
): HttpError {
  if (error instanceof HttpError) return error;
  const detail = { status, cause: error };
  if (error instanceof RedirectError) return new HttpError('redirect', error.message, detail);
  if (signal.aborted) return new HttpError('aborted', 'was given up', detail);
  if (late.aborted) return new HttpError('late', lateMessage, detail);
  return new HttpError('unreachable', reasonOf(error), detail);
}

/** The error of `fetch` says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be reached';
  return error.cause instanceof Error ? error.cause.message : error.message;
}
