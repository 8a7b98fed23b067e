import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { beginsWithByteOrderMark } from '../../protocol/bytes.ts';
import { DEFAULT_MAX_DEPTH, parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, JsonError, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { type Holder, HolderCounts } from '../accounts/limits/holder-counts.ts';
import { BODY_BYTES, HOLDER_SHARE } from '../accounts/limits/route-weights.ts';
import { Held } from '../concurrency/held.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { giveBack } from './arriving-bytes.ts';
import { BodyBudget, type ByteLimits, discard, type OwnBody, readBytes, readOwnBody, tooLarge } from './body-bytes.ts';
import { Problem } from './problem.ts';

/** When a caller whose body found no room may send it again. In seconds. */
const RETRY_AFTER_SECONDS = 2;

/**
 * A bound on the bodies of one kind that have arrived and are worked on: in memory, each takes several times its bytes.
 * One holder has its share of them at most, and never less than one body.
 */
export class BodiesUnderWork {
  readonly #limit: number;
  readonly #held = new HolderCounts();
  #bytes = 0;

  /** `limit`: bytes of all bodies together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Room for one body until it is disposed. Throws `Problem` 503 where there is none. */
  enter(bytes: number, { kind, id }: Holder): Disposable {
    if (this.#bytes + bytes > this.#limit) throw noCapacity('Too many large bodies are being worked on.', 'memory');
    const name = `${kind}/${id}`;
    const held = this.#held.of(name);
    const isShared = kind !== 'operator' && kind !== 'none';
    if (isShared && held > 0 && held + bytes > this.#limit * HOLDER_SHARE) {
      throw noCapacity('You have as many bytes under way as one caller may have.', 'share');
    }
    const share = this.#held.add(name, bytes);
    this.#bytes += bytes;
    return new Held(() => {
      this.#bytes -= bytes;
      share[Symbol.dispose]();
    });
  }
}

function noCapacity(detail: string, reason: 'memory' | 'share'): Problem {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new Problem('dependency-unavailable', detail, { headers, expected: true, reason });
}

export interface BodyLimits {
  /** Bytes of body accepted. */
  readonly maxBytes: number;
  /** Nesting accepted; the top level counts as 1. */
  readonly maxDepth?: number;
  /** Members and items accepted in all. */
  readonly maxValues?: number;
  /** From the call until the last byte, in milliseconds. */
  readonly deadlineMs?: number;
  /** Default: the one of this process. */
  readonly budget?: BodyBudget;
  /** Set where the body may be so long that it is read in slices: see `readSplitBody`. */
  readonly items?: ItemLimits;
}

/** Bounds on the items of a list. */
export interface ListLimits {
  readonly maxItems: number;
  /** Bytes of one item, as it was sent. */
  readonly maxItemBytes: number;
  /** Members and items in all of them. */
  readonly maxValues: number;
}

/** Bounds on the items of the one long member of a body. */
export interface ItemLimits extends ListLimits {
  readonly member: string;
}

export interface JsonBody {
  /** The body as it came. */
  readonly text: string;
  readonly value: JsonObject;
}

export const MAX_BODY_BYTES = 1 << 20;
/** A `data` of the largest size fits, unless its values are shorter than four bytes on average. */
export const MAX_BODY_VALUES = 65_536;
/** Parsing a longer text may take a slice's time, so that each has an iteration of the event loop. In UTF-16 units. */
const LONG_TEXT = 32 << 10;
const BODY_DEADLINE_MS = 30_000;
/** What is bounded is the memory of the process, whichever server of it a body arrives at. */
const ARRIVING = new BodyBudget(BODY_BYTES.arriving);
/** Of the process too: bodies that records are made of, from when they have arrived until the records are made. */
export const RECORDS_UNDER_WORK = new BodiesUnderWork(BODY_BYTES.records);

export const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** One JSON text a line. */
export const JSON_LINES_TYPE = 'application/x-ndjson';

/**
 * The JSON object in the body of a request. Call it once for a request, before anything else reads the body.
 *
 * Throws `Problem`: `unsupported-media-type` (not `application/json` in UTF-8, or content-encoded),
 * `payload-too-large`, `request-timeout`, `request-aborted` (the peer went away), `dependency-unavailable` (too many
 * large bodies at once), `invalid-json` (not UTF-8, a byte order mark, not strict JSON, not an object). A body refused
 * early is read to its end and dropped, so that the connection stays in step; a peer that goes on sending for too long
 * is cut off.
 */
export async function readJsonBody(request: IncomingMessage, limits: BodyLimits): Promise<JsonBody> {
  const text = await readJsonText(request, limits);
  return { text, value: parseJsonBody(text, limits) };
}

/** The same where it may be left out: a request without any body is one with an empty object. */
export async function readOptionalBody(request: IncomingMessage, limits: BodyLimits): Promise<JsonObject> {
  const { headers } = request;
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  return isEmpty ? {} : (await readJsonBody(request, limits)).value;
}

/** The same body as its text, for those who parse it elsewhere. Throws what `readJsonBody` throws before it parses. */
export function readJsonText(request: IncomingMessage, limits: BodyLimits): Promise<string> {
  return readText(request, limits);
}

/**
 * The same body as it came, for a thread that parses it. `enter`: makes room for so many bytes. Throws what `enter`
 * throws, and what `readJsonBody` throws before it parses.
 */
export async function readJsonBytes(
  request: IncomingMessage,
  limits: BodyLimits,
  enter: (bytes: number) => Disposable,
): Promise<OwnBody> {
  using reading = new DisposableStack();
  const body = reading.use(await readOwnBody(request, byteLimits(request, limits), enter));
  requireText(body.bytes);
  reading.move();
  return body;
}

/** What a form of a page sends (WHATWG URL §5.2). Throws what `readJsonBody` throws before it parses. */
export async function readFormBody(request: IncomingMessage, limits: BodyLimits): Promise<URLSearchParams> {
  return new URLSearchParams(await readText(request, limits, [FORM_TYPE]));
}

async function readText(request: IncomingMessage, limits: BodyLimits, types?: readonly string[]): Promise<string> {
  const bytes = await readBytes(request, byteLimits(request, limits, types));
  requireText(bytes);
  const text = bytes.toString('utf8');
  giveBack(bytes);
  if (text.length > LONG_TEXT) await new TimeSlices().rest();
  return text;
}

/** What bounds the bytes of a body. `types`: those that it may have. Throws `Problem` for what its headers rule out. */
export function byteLimits(
  request: IncomingMessage,
  { maxBytes, deadlineMs = BODY_DEADLINE_MS, budget = ARRIVING }: BodyLimits,
  types?: readonly string[],
): ByteLimits {
  const refusal = refuseByHeaders(request, maxBytes, types);
  if (refusal === null) return { maxBytes, deadlineMs, budget };
  discard(request);
  throw refusal;
}

/** What the headers of a request rule out, before its body is read. `types`: those that its body may have. */
function refuseByHeaders(
  { headers }: IncomingMessage,
  maxBytes: number,
  types: readonly string[] = [JSON_TYPE],
): Problem | null {
  if (!types.some((type) => isInUtf8(headers['content-type'], type))) {
    return new Problem('unsupported-media-type', `Content-Type must be ${types.join(' or ')} in UTF-8.`);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return new Problem('unsupported-media-type', 'Content-Encoding is not supported; send the body as it is.');
  }
  return Number(headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : null;
}

/** Whether a `Content-Type` is this type in UTF-8. */
export function isInUtf8(contentType: string | undefined, type: string): boolean {
  if (contentType === type) return true;
  if (contentType === undefined) return false;
  const [given = '', ...parameters] = contentType.toLowerCase().split(';');
  return given.trim() === type && parameters.every(allowsUtf8);
}

function allowsUtf8(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  const bare = value.trim();
  return name.trim() !== 'charset' || bare === 'utf-8' || bare === '"utf-8"';
}

/** Throws `Problem` `invalid-json`. */
function requireText(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw new Problem('invalid-json', 'The body is not UTF-8.');
  if (beginsWithByteOrderMark(bytes)) {
    throw new Problem('invalid-json', 'The body starts with a byte order mark.');
  }
}

/** What is said of a body that is no strict JSON. */
export function notJson(error: JsonError): Problem {
  return new Problem('invalid-json', `The body is not acceptable JSON: ${error.message}.`, { cause: error });
}

/** The JSON object of a body's text. Throws `Problem` `invalid-json`. */
export function parseJsonBody(text: string, limits: BodyLimits): JsonObject {
  const { maxDepth = DEFAULT_MAX_DEPTH, maxValues = MAX_BODY_VALUES } = limits;
  let value: JsonValue;
  try {
    value = parseJson(text, { maxDepth, maxValues, exactIntegers: true });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw notJson(error);
  }
  if (!isJsonObject(value)) throw new Problem('invalid-json', 'The body must be a JSON object.');
  return value;
}
