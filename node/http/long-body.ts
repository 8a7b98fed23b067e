import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../protocol/json/parse.ts';
import { JsonError, type JsonValue } from '../../protocol/json/value.ts';
import type { Holder } from '../accounts/limits/holder-counts.ts';
import { BODY_BYTES } from '../accounts/limits/route-weights.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { BodyBudget, discard, type OwnBody, readOwnBody } from './body-bytes.ts';
import { BodiesUnderWork, type BodyLimits, byteLimits, type ListLimits } from './body.ts';
import { ItemSplitter, SplitError, type SplitText } from './item-splitter.ts';
import { fieldError, type FieldError, Problem } from './problem.ts';

/** A body that may be tens of megabytes long, as it came. Holds a place among such bodies until it is disposed. */
export interface LongBody extends OwnBody {
  /** SHA-256 of the bytes, in hex. */
  digest(): Promise<string>;
}

/** Bounds on the items of a member, or where that is null of a body that is a list. */
export interface ListedItems extends ListLimits {
  readonly member: string | null;
}

/** Bytes that are no items: what a body of any route may have. */
const MAX_SKELETON_BYTES = 1 << 20;
/** Bytes that are walked over before the clock is looked at. */
const STEP_BYTES = 64 << 10;
/** Apart from those of other bodies, so that no small body makes room for a large one. */
const ARRIVING = new BodyBudget(BODY_BYTES.arrivingBatches);
/** Of the process: long bodies from when they have arrived until their calls are answered. */
export const LONG_BODIES_UNDER_WORK = new BodiesUnderWork(BODY_BYTES.batches);

/**
 * Reads a long body. `types`: what it may be. Throws what `readJsonBody` throws before it parses, and
 * `Problem` 503 where there is no room among the bodies under work.
 */
export async function readLongBody(
  request: IncomingMessage,
  limits: BodyLimits,
  holder: Holder,
  types?: readonly string[],
): Promise<LongBody> {
  const arriving = byteLimits(request, { budget: ARRIVING, ...limits }, types);
  requireCapacityNow(request, holder);
  const body = await readOwnBody(request, arriving, (bytes) => LONG_BODIES_UNDER_WORK.enter(bytes, holder));
  return { ...body, digest: () => digestOf(body.bytes) };
}

/** Takes a JSON text apart in slices, without parsing it. Throws `Problem` that names the item at fault. */
export async function splitItems(bytes: Buffer, limits: ListedItems): Promise<SplitText> {
  const splitter = new ItemSplitter(bytes, { ...limits, maxSkeletonBytes: MAX_SKELETON_BYTES });
  const slices = new TimeSlices();
  try {
    while (splitter.advance(STEP_BYTES)) if (slices.isOver) await slices.rest();
    return splitter.finish();
  } catch (error) {
    throw error instanceof SplitError ? splitProblem(error, limits) : error;
  }
}

/** The text of a part of a body, which `name` says. Throws `Problem` `invalid-json`. */
export function partText(bytes: Buffer, name: string): string {
  if (!isUtf8(bytes)) throw new Problem('invalid-json', `${name} is not UTF-8.`);
  return bytes.toString('utf8');
}

/** The value of a part of a body, which `name` says. Throws `Problem` `invalid-json`. */
export function parsePart(text: string, maxDepth: number, maxValues: number, name: string): JsonValue {
  try {
    return parseJson(text, { maxDepth, maxValues, exactIntegers: true });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Problem('invalid-json', `${name} is not acceptable JSON: ${error.message}.`, { cause: error });
  }
}

/** More items than a list may have. */
export function tooManyItems(member: string | null, maxItems: number): Problem {
  const message = `has more than ${maxItems} items`;
  return new Problem('invalid-field', `${member ?? 'the body'} ${message}`, {
    errors: [fieldError(member === null ? [] : [member], 'maxItems', message)],
  });
}

/** More members and items than all items together may have. */
export function tooManyValues(member: string | null, maxValues: number): Problem {
  return new Problem(
    'payload-too-large',
    `${member ?? 'The body'} has more than ${maxValues} members and items in all.`,
  );
}

/** An item that is longer than one may be. */
export function tooLargeItem(member: string | null, index: number, maxItemBytes: number): Problem {
  const message = `has more than ${maxItemBytes} bytes`;
  return new Problem('payload-too-large', `${member ?? ''}[${index}] ${message}.`, {
    errors: [itemError(member, index, 'too-large', message)],
  });
}

/** Throws where there is no room now for as much as the headers tell of: none of it is read then. Holds nothing. */
function requireCapacityNow(request: IncomingMessage, holder: Holder): void {
  try {
    LONG_BODIES_UNDER_WORK.enter(Number(request.headers['content-length'] ?? 0), holder)[Symbol.dispose]();
  } catch (error) {
    discard(request);
    throw error;
  }
}

async function digestOf(bytes: Buffer): Promise<string> {
  const digest = createHash('sha256');
  const slices = new TimeSlices();
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (slices.isOver) await slices.rest();
    digest.update(bytes.subarray(at, at + STEP_BYTES));
  }
  return digest.digest('hex');
}

function splitProblem(
  { fault, index }: SplitError,
  { member, maxItems, maxItemBytes, maxValues }: ListedItems,
): Problem {
  if (fault === 'skeleton-too-large') {
    const outside = member ?? 'the records';
    return new Problem(
      'payload-too-large',
      `The body has more than ${MAX_SKELETON_BYTES} bytes outside of ${outside}.`,
    );
  }
  if (fault === 'too-many-values') return tooManyValues(member, maxValues);
  return fault === 'too-many-items' ? tooManyItems(member, maxItems) : tooLargeItem(member, index, maxItemBytes);
}

/**
 * A fault of an item of a list, or of a member of it: `records[17].data`, `#/records/17/data`. `member`: null where the
 * body is the list.
 */
export function itemError(member: string | null, index: number, code: string, message: string, path = ''): FieldError {
  const rest = path === '' ? '' : `.${path}`;
  return {
    field: `${member ?? ''}[${index}]${rest}`,
    pointer: `#${member === null ? '' : `/${member}`}/${index}${path === '' ? '' : `/${path}`}`,
    code,
    message,
  };
}

/** A refusal of an item by itself, in the words of the list that it stands in. */
export function itemProblem(member: string, index: number, { code, detail, errors, extra, headers }: Problem): Problem {
  const name = `${member}[${index}]`;
  const named = errors.map((error) => ({
    ...error,
    field: error.field === '' ? name : `${name}.${error.field}`,
    pointer: `#/${member}/${index}${error.pointer.slice(1)}`,
  }));
  const isAboutMember = errors[0] !== undefined && detail.startsWith(errors[0].field) && errors[0].field !== '';
  return new Problem(code, isAboutMember ? `${name}.${detail}` : `${name}: ${detail}`, {
    errors: named,
    extra,
    headers,
  });
}
