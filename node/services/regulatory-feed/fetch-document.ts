import { BodyTooLargeError, cappedBytes } from '../../outbound/capped-body.ts';
import { followRedirects, RedirectError } from '../../outbound/redirects.ts';
import { MAX_DOCUMENT_BYTES } from './document-reader.ts';
import type { RawDocument } from './read-document.ts';

/** What a source said the last time of the document that it gave. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export type Fetched =
  | { readonly outcome: 'document'; readonly document: RawDocument; readonly validators: Validators }
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'failed';
      readonly reason: string;
      /** What the source asks for. In milliseconds. */
      readonly retryAfterMs: number | null;
    };

/** From the question to the last byte. In milliseconds. */
const FETCH_MS = 30_000;
const MAX_HEADER = 1_000;
const USER_AGENT = 'meridian-regwatch/1';
const ACCEPT =
  'application/rss+xml, application/atom+xml, application/rdf+xml, application/json, application/xml, text/xml';

/**
 * Asks a source for its document, unless it is still the one that it gave last. Never throws: what goes wrong is an
 * outcome. Follows redirects where `followRedirects` does; reads no further than the largest document.
 */
export async function fetchDocument(url: string, known: Validators, signal: AbortSignal): Promise<Fetched> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]);
  try {
    return await ask(new URL(url), known, deadline);
  } catch (error) {
    return failed(error instanceof Error ? reasonOf(error) : 'it cannot be reached');
  }
}

async function ask(start: URL, { etag, lastModified }: Validators, signal: AbortSignal): Promise<Fetched> {
  const headers = {
    accept: ACCEPT,
    'user-agent': USER_AGENT,
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(lastModified === null ? {} : { 'if-modified-since': lastModified }),
  };
  return outcomeOf(await followRedirects(start, (url) => fetch(url, { signal, redirect: 'manual', headers })));
}

async function outcomeOf(response: Response): Promise<Fetched> {
  const { status, headers } = response;
  if (status === 200) {
    const bytes = await cappedBytes(response, MAX_DOCUMENT_BYTES);
    return {
      outcome: 'document',
      document: { bytes, contentType: headers.get('content-type') },
      validators: { etag: short(headers.get('etag')), lastModified: short(headers.get('last-modified')) },
    };
  }
  await response.body?.cancel();
  if (status === 304) return { outcome: 'unchanged' };
  return failed(`it answers ${status}`, retryAfterMs(headers.get('retry-after'), Date.now()));
}

/** RFC 9110 §10.2.3: seconds, or a date. `now` in epoch milliseconds. Null where it is neither. */
export function retryAfterMs(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function failed(reason: string, retryAfter: number | null = null): Fetched {
  return { outcome: 'failed', reason, retryAfterMs: retryAfter };
}

function reasonOf(error: Error): string {
  if (error instanceof BodyTooLargeError) return `it gives more than ${MAX_DOCUMENT_BYTES} bytes`;
  if (error instanceof RedirectError) return `it ${error.message}`;
  if (error.name === 'TimeoutError') return `it does not answer in ${FETCH_MS} ms`;
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** What is longer is not sent back. */
function short(header: string | null): string | null {
  return header !== null && header.length <= MAX_HEADER ? header : null;
}
