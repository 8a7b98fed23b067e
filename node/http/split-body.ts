import type { IncomingMessage } from 'node:http';
import { DEFAULT_MAX_DEPTH } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import type { Holder } from '../accounts/limits/holder.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { type BodyLimits, type ItemLimits, MAX_BODY_VALUES } from './body.ts';
import type { SplitText } from './item-splitter.ts';
import { parsePart, partText, readLongBody, splitItems } from './long-body.ts';
import { Problem } from './problem.ts';

/** A body with one long member. Holds a place among the large bodies until it is disposed. */
export interface SplitBody extends Disposable {
  /** How long it is. */
  readonly bytes: number;
  /** SHA-256 of the bytes as they came, in hex. */
  readonly digest: string;
  /** Throws `Problem` `invalid-json`, `invalid-field` or `payload-too-large`, which name the item at fault. */
  parse(): Promise<JsonObject>;
}

/** Bounds on the items, and who answers for what they take. */
export interface HeldItems extends ItemLimits {
  readonly holder: Holder;
}

/** The items' own nesting: they stand in a member of the body. */
const ITEM_DEPTH = DEFAULT_MAX_DEPTH - 2;

/**
 * The body of a request that may be tens of megabytes long, read and hashed in slices; it is parsed in slices too, its
 * items one by one, and only where it is asked for. Throws what `readJsonBody` throws before it parses.
 */
export async function readSplitBody(request: IncomingMessage, body: BodyLimits, limits: HeldItems): Promise<SplitBody> {
  using holding = new DisposableStack();
  const long = holding.use(await readLongBody(request, body, limits.holder));
  const digest = await long.digest();
  const place = holding.move();
  return {
    bytes: long.bytes.length,
    digest,
    parse: async () => parsed(await splitItems(long.bytes, limits), limits),
    [Symbol.dispose]: () => place.dispose(),
  };
}

async function parsed({ skeleton, items }: SplitText, limits: ItemLimits): Promise<JsonObject> {
  const head = parsePart(partText(skeleton, 'The body'), DEFAULT_MAX_DEPTH, MAX_BODY_VALUES, 'The body');
  if (!isJsonObject(head)) throw new Problem('invalid-json', 'The body must be a JSON object.');
  // Not an array, or left out: the schema of the route says so.
  if (items.length === 0) return head;
  const values: JsonValue[] = [];
  await new TimeSlices().each(items, (item, index) => {
    const name = `${limits.member}[${index}]`;
    values.push(parsePart(partText(item, name), ITEM_DEPTH, limits.maxValues, name));
  });
  return { ...head, [limits.member]: values };
}
