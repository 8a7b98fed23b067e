import type { IncomingMessage } from 'node:http';
import { countValues, DEFAULT_MAX_DEPTH } from '../../protocol/json/parse.ts';
import { isJsonArray, type JsonValue } from '../../protocol/json/value.ts';
import type { Holder } from '../accounts/limits/holder-counts.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { type BodyLimits, isInUtf8, JSON_LINES_TYPE, JSON_TYPE, type ListLimits, MAX_BODY_VALUES } from './body.ts';
import {
  LONG_BODIES_UNDER_WORK,
  parsePart,
  partText,
  readLongBody,
  splitItems,
  tooLargeItem,
  tooManyItems,
  tooManyValues,
} from './long-body.ts';
import { fieldError, Problem } from './problem.ts';

/**
 * A body that is a list: a JSON array, or one JSON text a line. Holds a place among the long bodies until it is
 * disposed.
 */
export interface ListBody extends Disposable {
  /** SHA-256 of the bytes as they came, in hex. */
  digest(): Promise<string>;
  /**
   * Hands over every item, in order and in slices; resolves to how many there are. Throws `Problem` `invalid-json`,
   * `invalid-field` or `payload-too-large` where the list is none, and what `work` throws.
   */
  each(work: (value: JsonValue, index: number) => void): Promise<number>;
}

/** What an item is taken for at least of the room of bodies under work: what is made of it is larger. In bytes. */
const LEAST_ITEM_BYTES = 2 << 10;
/** Lines between two looks at the clock. */
const LINES_PER_LOOK = 64;
const TAB = 9;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
/** The fewest bytes that a member or an item takes, with what separates it from the next. */
const LEAST_VALUE_BYTES = 2;
/** An item's own nesting where it stands in an array; a line stands in nothing. */
const ARRAY_ITEM_DEPTH = DEFAULT_MAX_DEPTH - 1;

/**
 * The list in the body of a request, not yet parsed. Throws what `readJsonBody` throws before
 * it parses.
 */
export async function readListBody(
  request: IncomingMessage,
  body: BodyLimits,
  limits: ListLimits,
  holder: Holder,
): Promise<ListBody> {
  const isLines = isInUtf8(request.headers['content-type'], JSON_LINES_TYPE);
  using holding = new DisposableStack();
  const long = holding.use(await readLongBody(request, body, holder, [JSON_TYPE, JSON_LINES_TYPE]));
  const { bytes } = long;
  const places = holding.move();
  return {
    digest: () => long.digest(),
    async each(work) {
      const items = await (isLines ? linesOf(bytes, limits) : arrayItems(bytes, limits));
      if (items.length === 0) throw noItems();
      const more = items.length * LEAST_ITEM_BYTES - bytes.length;
      if (more > 0) places.use(LONG_BODIES_UNDER_WORK.enter(more, holder));
      // No shorter body can have more values than all items may.
      const isCounted = isLines && bytes.length > limits.maxValues * LEAST_VALUE_BYTES;
      const itemDepth = isLines ? DEFAULT_MAX_DEPTH : ARRAY_ITEM_DEPTH;
      let values = 0;
      await new TimeSlices().each(items, (item, index) => {
        const name = `[${index}]`;
        const text = partText(item, name);
        if (isCounted) values += countValues(text);
        if (values > limits.maxValues) throw tooManyValues(null, limits.maxValues);
        work(parsePart(text, itemDepth, limits.maxValues, name), index);
      });
      return items.length;
    },
    [Symbol.dispose]: () => places.dispose(),
  };
}

async function arrayItems(bytes: Buffer, limits: ListLimits): Promise<readonly Buffer[]> {
  const { skeleton, items } = await splitItems(bytes, { ...limits, member: null });
  const list = parsePart(partText(skeleton, 'The body'), DEFAULT_MAX_DEPTH, MAX_BODY_VALUES, 'The body');
  if (!isJsonArray(list)) throw new Problem('invalid-json', 'The body must be a JSON array.');
  return items;
}

/** Lines that are not blank. */
async function linesOf(bytes: Buffer, { maxItems, maxItemBytes }: ListLimits): Promise<readonly Buffer[]> {
  const lines: Buffer[] = [];
  const slices = new TimeSlices();
  for (let start = 0, looked = 1; start < bytes.length; looked++) {
    if (looked % LINES_PER_LOOK === 0 && slices.isOver) await slices.rest();
    const found = bytes.indexOf(NEWLINE, start);
    const line = bytes.subarray(start, found === -1 ? bytes.length : found);
    start += line.length + 1;
    if (line.length > maxItemBytes) throw tooLargeItem(null, lines.length, maxItemBytes);
    if (isBlank(line)) continue;
    if (lines.length >= maxItems) throw tooManyItems(null, maxItems);
    lines.push(line);
  }
  return lines;
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN);
}

function noItems(): Problem {
  const message = 'has no items';
  return new Problem('invalid-field', `the body ${message}`, { errors: [fieldError([], 'minItems', message)] });
}
