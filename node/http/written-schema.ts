import type { TSchema } from 'typebox';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { DOCUMENTED } from '../../protocol/shapes.ts';

/** Keywords whose value is a schema, a list of schemas, and schemas by name. */
const OF_ONE = ['additionalProperties', 'items', 'unevaluatedProperties', 'if', 'then', 'else', 'not', 'contains'];
const OF_SEVERAL = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const OF_NAMED = ['properties', 'patternProperties', '$defs'];
/** The pattern of TypeBox for maps of any names. */
const ANY_NAME = '^.*$';

/** The schema as it stands by itself: JSON Schema 2020-12 without the names of its parts. */
export function writtenSchema(shape: TSchema): JsonObject {
  return mapSchema(plainSchema(shape), (part) => completed(untitled(part)));
}

function untitled(part: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(part).filter(([name]) => name !== 'title'));
}

/** The same, its parts named by their titles still. */
export function titledSchema(shape: TSchema): JsonObject {
  return mapSchema(plainSchema(shape), completed);
}

/** A TypeBox schema is JSON Schema 2020-12 as it is; writing it out drops what is not. */
function plainSchema(shape: TSchema): JsonObject {
  const schema: JsonValue = JSON.parse(JSON.stringify(shape));
  if (!isJsonObject(schema)) throw new TypeError('a schema that is no object');
  return schema;
}

/** The schema with each of its parts, the innermost first, and then itself replaced by what it is mapped to. */
export function mapSchema(schema: JsonObject, map: (part: JsonObject) => JsonObject): JsonObject {
  const of = (value: JsonValue): JsonValue => (isJsonObject(value) ? mapSchema(value, map) : value);
  const members = Object.entries(schema).map(([name, value = null]): [string, JsonValue] => {
    if (OF_ONE.includes(name)) return [name, of(value)];
    if (OF_SEVERAL.includes(name) && isJsonArray(value)) return [name, value.map(of)];
    if (!OF_NAMED.includes(name) || !isJsonObject(value)) return [name, value];
    return [name, Object.fromEntries(Object.entries(value).map(([key, part = null]) => [key, of(part)]))];
  });
  return map(Object.fromEntries(members));
}

/**
 * With the keywords that are checked apart, a type for what is one of some texts, and maps written as most read them.
 */
function completed({ [DOCUMENTED]: apart, ...schema }: JsonObject): JsonObject {
  const { type, enum: values, patternProperties, ...rest } = schema;
  const isOfTexts = type === undefined && values !== undefined && isJsonArray(values) && values.every(isText);
  const typed = isOfTexts ? { type: 'string', ...schema } : schema;
  const named = isJsonObject(patternProperties) ? patternProperties[ANY_NAME] : undefined;
  const mapped = named === undefined ? typed : { type: 'object', ...rest, additionalProperties: named };
  return isJsonObject(apart) ? { ...mapped, ...apart } : mapped;
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string';
}

/** The value of a parameter's example, which is written as it stands in a request, by the schema of the parameter. */
export function exampleOf({ type }: JsonObject, written: string): number | string {
  return type === 'integer' ? Number(written) : written;
}
