import { followRedirects, isRedirect, RedirectError } from './redirects.ts';

/**
 * `aborted`: the caller gave up · `late`: no answer, or no whole one, in time · `redirect`: it leads to an address that
 * is not followed · `too-large`: its body is over the limit · `unreachable`: the connection failed.
 */
export type HttpErrorCode = 'aborted' | 'late' | 'redirect' | 'too-large' | 'unreachable';

interface HttpErrorDetail {
  readonly answer?: AnswerHead | null;
  readonly cause?: unknown;
}

/** There is no answer, or no whole one. The message is a predicate: "does not answer in 5000 ms". */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  /** The answer whose body was not read whole; null where none began. */
  readonly answer: AnswerHead | null;

  constructor(code: HttpErrorCode, message: string, { answer = null, cause }: HttpErrorDetail = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.answer = answer;
  }
}

/** What a server said of a document, sent along with the next request for it (RFC 9110 §13.1). Null: nothing. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Whether a request that sends these along is conditional: to any other a 304 is no answer (RFC 9110 §15.4.5). */
export function isConditional({ etag, lastModified }: Validators): boolean {
  return etag !== null || lastModified !== null;
}

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Sends it. Default: that of the process. */
  readonly fetch?: typeof fetch;
}

/**
 * A GET follows redirects where it says so and `followRedirects` allows it; its headers go along, so it carries no
 * credentials of the address that was asked. Everything else is answered by that address: a redirect is a `HttpError`.
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

/** An answer without its body. */
export interface AnswerHead {
  readonly status: number;
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  readonly headers: Headers;
  readonly validators: Validators;
}

/** An answer, read to its end. */
export interface HttpAnswer extends AnswerHead {
  readonly bytes: Uint8Array;
}

/** An answer whose body is still to come. */
export interface HttpDownload extends AnswerHead {
  /** The body, once. Its caller bounds its length. Throws `HttpError` `late`, `aborted` and `unreachable`. */
  readonly body: () => AsyncIterable<Uint8Array>;
  /** Ends the connection of a body that is not read. */
  readonly discard: () => Promise<void>;
}

/** A longer validator is not sent back. In characters. */
const MAX_VALIDATOR_CHARACTERS = 1_000;

/** Sends a request and reads its whole answer, whatever its status. Throws `HttpError`. */
export async function httpRequest(url: string, request: HttpRequest & AnswerLimits): Promise<HttpAnswer> {
  const { signal, fetch: send = fetch, maxBytes, timeoutMs } = request;
  using end = new RequestEnd(signal);
  let head: AnswerHead | null = null;
  const read = async (): Promise<HttpAnswer> => {
    const response = await answerTo(url, request, (at, init) => send(at, { ...init, signal: end.signal }));
    head = headOf(response);
    return { ...head, bytes: await cappedBytes(response, maxBytes) };
  };
  try {
    return await end.within(timeoutMs, read());
  } catch (error) {
    throw end.failureOf(error, `does not answer in ${timeoutMs} ms`, head);
  }
}

/**
 * Sends a request whose answer is read piece by piece. `silenceMs`: longest wait for the answer, for that of each
 * address that it is redirected to, and for each piece of its body. The caller reads the body or discards it. Throws
 * `HttpError`.
 */
export async function httpDownload(
  url: string,
  request: HttpRequest & { readonly silenceMs: number },
): Promise<HttpDownload> {
  const { signal, fetch: send = fetch, silenceMs } = request;
  const end = new RequestEnd(signal);
  try {
    const response = await answerTo(url, request, (at, init) =>
      end.within(silenceMs, send(at, { ...init, signal: end.signal })),
    );
    return {
      ...headOf(response),
      body: () => piecesOf(response, end, silenceMs),
      discard: async () => {
        end[Symbol.dispose]();
        await response.body?.cancel();
      },
    };
  } catch (error) {
    end[Symbol.dispose]();
    throw end.failureOf(error, `does not answer in ${silenceMs} ms`, null);
  }
}

type Send = (url: string | URL, init: RequestInit) => Promise<Response>;

async function answerTo(url: string, request: HttpRequest, send: Send): Promise<Response> {
  if (request.method === 'POST') {
    const { headers = {}, body } = request;
    return refuseRedirect(await send(url, { method: 'POST', headers, body, redirect: 'manual' }));
  }
  const { redirects = 'refuse', validators } = request;
  const headers = { ...request.headers, ...conditionsOf(validators) };
  const get = (at: URL): Promise<Response> => send(at, { headers, redirect: 'manual' });
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

function headOf({ status, ok, headers }: Response): AnswerHead {
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
      throw new HttpError('too-large', `an answer over ${maxBytes} bytes`, { answer: headOf(response) });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function* piecesOf(response: Response, end: RequestEnd, silenceMs: number): AsyncGenerator<Uint8Array> {
  using _ended = end;
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await end.within(silenceMs, reader.read());
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw end.failureOf(error, `sends nothing more in ${silenceMs} ms`, headOf(response));
  } finally {
    // Not waited for: a connection that is silent would keep the caller.
    reader.cancel().catch(() => undefined);
  }
}

/**
 * Ends a request once its caller gives up or it is late. Disposed, it leaves nothing behind at the caller's signal,
 * which may outlive any number of requests (`AbortSignal.any` leaves an entry there for each).
 */
class RequestEnd implements Disposable {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #giveUp = (): void => this.#controller.abort();
  #isLate = false;

  constructor(caller: AbortSignal | undefined) {
    this.#caller = caller;
    if (caller?.aborted === true) this.#giveUp();
    else caller?.addEventListener('abort', this.#giveUp, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The result of a part of the request. Ends the request, and rejects, where it takes longer. */
  async within<Result>(milliseconds: number, part: Promise<Result>): Promise<Result> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#isLate = true;
      this.#controller.abort();
      reject(this.signal.reason);
    }, milliseconds);
    try {
      return await Promise.race([part, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What ended the request: that its caller gave up comes first, then that it is late. */
  failureOf(error: unknown, lateMessage: string, answer: AnswerHead | null): HttpError {
    if (error instanceof HttpError) return error;
    const detail = { answer, cause: error };
    if (error instanceof RedirectError) return new HttpError('redirect', error.message, detail);
    if (this.#caller?.aborted === true) return new HttpError('aborted', 'was given up', detail);
    if (this.#isLate) return new HttpError('late', lateMessage, detail);
    return new HttpError('unreachable', reasonOf(error), detail);
  }

  [Symbol.dispose](): void {
    this.#caller?.removeEventListener('abort', this.#giveUp);
  }
}

/** The error of `fetch` says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be reached';
  return error.cause instanceof Error ? error.cause.message : error.message;
}
