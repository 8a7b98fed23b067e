import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';

const SCHEMAS = '#/components/schemas/';
const OF_ONE = ['additionalProperties', 'items', 'unevaluatedProperties'];
const OF_SEVERAL = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const OF_NAMED = ['properties', 'patternProperties', '$defs'];

/**
 * The places in a schema that let members or values through that nobody has described: objects that are not closed, and
 * are not maps of a described kind either; values of any kind. Text says what they are, where they are meant. `named`:
 * the schemas that it refers to.
 */
export function openPlaces(schema: JsonValue, named: JsonObject, path = ''): string[] {
  if (!isJsonObject(schema)) return [];
  const { $ref } = schema;
  // No schema here refers to itself.
  if (typeof $ref === 'string') return openPlaces(named[$ref.slice(SCHEMAS.length)] ?? null, named, path);
  const isDescribed = typeof schema.description === 'string';
  const own = (isOpenObject(schema) || isAnything(schema)) && !isDescribed ? [path === '' ? '/' : path] : [];
  const inner = [
    ...OF_ONE.flatMap((name) => openPlaces(schema[name] ?? null, named, `${path}/${name}`)),
    // What closes the whole closes the parts of `allOf`.
    ...OF_SEVERAL.filter((name) => name !== 'allOf' || schema.unevaluatedProperties !== false).flatMap((name) =>
      listOf(schema[name]).flatMap((one, i) => openPlaces(one, named, `${path}/${name}/${i}`)),
    ),
    ...OF_NAMED.flatMap((name) =>
      Object.entries(isJsonObject(schema[name]) ? schema[name] : {}).flatMap(([key, one]) =>
        openPlaces(one, named, `${path}/${name}/${key}`),
      ),
    ),
  ];
  return [...own, ...inner];
}

function isOpenObject(schema: Readonly<Record<string, JsonValue>>): boolean {
  const { type, properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  if (type !== 'object' && properties === undefined) return false;
  if (additionalProperties === false || unevaluatedProperties === false) return false;
  const isMap =
    isJsonObject(additionalProperties) || (isJsonObject(patternProperties) && additionalProperties !== true);
  return !isMap;
}

function isAnything(schema: Readonly<Record<string, JsonValue>>): boolean {
  return Object.keys(schema).every((key) => key === 'title' || key === 'default' || key === 'description');
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}
