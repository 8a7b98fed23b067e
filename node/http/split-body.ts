import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { DEFAULT_MAX_DEPTH, parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, JsonError, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { BODY_BYTES } from '../limits/route-weights.ts';
import type { Holder } from '../limits/holder.ts';
import { Slices } from '../turns.ts';
import { BODY_DEADLINE_MS, type BodyLimits, type ItemLimits, MAX_BODY_VALUES, refuseByHeaders } from './body.ts';
import { BodyBudget } from './body-budget.ts';
import { discard, readChunks } from './body-bytes.ts';
import { ItemSplitter, SplitError, type SplitText } from './item-splitter.ts';
import { BodiesUnderWork } from './bodies-under-work.ts';
import { itemError } from './item-error.ts';
import { fieldError, Problem } from './problem.ts';

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

/** Bytes that are no items: what a body of any route may have. */
const MAX_SKELETON_BYTES = 1 << 20;
/** Bytes that the splitter walks over before the clock is looked at. */
const STEP_BYTES = 64 << 10;
/** Apart from those of other bodies, so that no small body makes room for a large one. */
const ARRIVING = new BodyBudget(BODY_BYTES.arrivingBatches);
const UNDER_WORK = new BodiesUnderWork(BODY_BYTES.batches);
/** The items' own nesting: they stand in a member of the body. */
const ITEM_DEPTH = DEFAULT_MAX_DEPTH - 2;

/**
 * The body of a request that may be tens of megabytes long, read and hashed in slices; it is parsed in slices too, its
 * items one by one, and only where it is asked for. Throws what `readJsonBody` throws before it parses.
 */
export async function readSplitBody(
  request: IncomingMessage,
  { maxBytes, deadlineMs = BODY_DEADLINE_MS, budget = ARRIVING }: BodyLimits,
  limits: HeldItems,
): Promise<SplitBody> {
  const refusal = refuseByHeaders(request, maxBytes);
  if (refusal !== null) {
    discard(request);
    throw refusal;
  }
  const chunks = await readChunks(request, { maxBytes, deadlineMs, budget });
  using entering = new DisposableStack();
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  entering.use(UNDER_WORK.enter(size, limits.holder));
  const { bytes, digest } = await joined(chunks);
  const place = entering.move();
  return {
    bytes: size,
    digest,
    parse: async () => parsed(await split(bytes, limits), limits),
    [Symbol.dispose]: () => place.dispose(),
  };
}

async function joined(chunks: readonly Buffer[]): Promise<{ bytes: Buffer; digest: string }> {
  const bytes = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0));
  const digest = createHash('sha256');
  let at = 0;
  await new Slices().each(chunks, (chunk) => {
    at += chunk.copy(bytes, at);
    digest.update(chunk);
  });
  return { bytes, digest: digest.digest('hex') };
}

async function split(bytes: Buffer, limits: ItemLimits): Promise<SplitText> {
  const splitter = new ItemSplitter(bytes, { ...limits, maxSkeletonBytes: MAX_SKELETON_BYTES });
  const slices = new Slices();
  try {
    while (splitter.advance(STEP_BYTES)) if (slices.isOver) await slices.rest();
    return splitter.finish();
  } catch (error) {
    throw error instanceof SplitError ? splitProblem(error, limits) : error;
  }
}

async function parsed({ skeleton, items }: SplitText, limits: ItemLimits): Promise<JsonObject> {
  const head = parse(skeleton, DEFAULT_MAX_DEPTH, MAX_BODY_VALUES, 'The body');
  if (!isJsonObject(head)) throw new Problem('invalid-json', 'The body must be a JSON object.');
  // Not an array, or left out: the schema of the route says so.
  if (items.length === 0) return head;
  const values: JsonValue[] = [];
  await new Slices().each(items, (item, index) => {
    values.push(parse(item, ITEM_DEPTH, limits.maxValues, `${limits.member}[${index}]`));
  });
  return { ...head, [limits.member]: values };
}

function parse(bytes: Buffer, maxDepth: number, maxValues: number, name: string): JsonValue {
  if (!isUtf8(bytes)) throw new Problem('invalid-json', `${name} is not UTF-8.`);
  try {
    return parseJson(bytes.toString('utf8'), { maxDepth, maxValues });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Problem('invalid-json', `${name} is not acceptable JSON: ${error.message}.`, { cause: error });
  }
}

function splitProblem(
  { fault, index }: SplitError,
  { member, maxItems, maxItemBytes, maxValues }: ItemLimits,
): Problem {
  if (fault === 'skeleton-too-large') {
    return new Problem('payload-too-large', `The body has more than ${MAX_SKELETON_BYTES} bytes outside of ${member}.`);
  }
  if (fault === 'too-many-values') {
    return new Problem('payload-too-large', `${member} has more than ${maxValues} members and items in all.`);
  }
  if (fault === 'too-many-items') {
    const message = `has more than ${maxItems} items`;
    return new Problem('invalid-field', `${member} ${message}`, {
      errors: [fieldError([member], 'maxItems', message)],
    });
  }
  return new Problem('payload-too-large', `${member}[${index}] has more than ${maxItemBytes} bytes.`, {
    errors: [itemError(member, index, 'too-large', `has more than ${maxItemBytes} bytes`)],
  });
}
