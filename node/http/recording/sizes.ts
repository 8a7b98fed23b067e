import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { fieldError, Problem } from '../problem.ts';

/** Canonical UTF-8 bytes of `data`, of the members beside the documented ones, and of an agent's `metadata`. */
const MAX_DATA_BYTES = 256 << 10;
const MAX_ADDITIONAL_BYTES = 16 << 10;
const MAX_METADATA_BYTES = 16 << 10;

/** Throws `Problem` 413 where the canonical text of `data` is too large. */
export function requireSmallData(text: string): void {
  requireBytes('data', Buffer.byteLength(text), MAX_DATA_BYTES);
}

/** Throws `Problem` 413 where the canonical text of `metadata` is too large. */
export function requireSmallMetadata(metadata: JsonObject): void {
  requireBytes('metadata', Buffer.byteLength(canonicalize(metadata)), MAX_METADATA_BYTES);
}

/** Throws `Problem` 413 where the members beside the documented ones are too large. */
export function requireSmallAdditional(additional: ReadonlyMap<string, JsonValue>): void {
  if (additional.size === 0) return;
  const bytes = Buffer.byteLength(JSON.stringify(Object.fromEntries(additional)));
  requireBytes([...additional.keys()][0] ?? 'additional', bytes, MAX_ADDITIONAL_BYTES);
}

function requireBytes(field: string, bytes: number, limit: number): void {
  if (bytes <= limit) return;
  const detail = `${field} has ${bytes} bytes, over the limit of ${limit}`;
  throw new Problem('payload-too-large', detail, { errors: [fieldError([field], 'too-large', detail)] });
}
