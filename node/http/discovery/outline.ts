import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';

/** Words of JSON Schema that say nothing of what is valid. */
const REMARKS: ReadonlySet<string> = new Set(['description', 'title', 'examples', 'default']);
/** Words whose value is a schema one level further down, or several of them, by name or in order. */
const BELOW: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'unevaluatedProperties']);
const BELOW_BY_NAME: ReadonlySet<string> = new Set(['properties', 'patternProperties']);
const BESIDE: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);

/** A schema down to a depth, without remarks. Whatever is valid under the whole is valid under its outline. */
export function outline(schema: JsonValue, depth: number): JsonValue {
  if (!isJsonObject(schema)) return schema;
  if (depth === 0) return schema.type === undefined ? {} : { type: schema.type };
  const kept = Object.entries(schema).filter(([word]) => !REMARKS.has(word));
  return Object.fromEntries(kept.map(([word, value]) => [word, outlined(word, value, depth)]));
}

function outlined(word: string, value: JsonValue, depth: number): JsonValue {
  if (BELOW.has(word)) return outline(value, depth - 1);
  if (BELOW_BY_NAME.has(word) && isJsonObject(value)) return mapMembers(value, (one) => outline(one, depth - 1));
  if (BESIDE.has(word) && isJsonArray(value)) return value.map((one) => outline(one, depth));
  return value;
}

function mapMembers(object: JsonObject, map: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}
