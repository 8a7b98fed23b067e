import type { TSchema } from 'typebox';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';

/** A TypeBox schema is JSON Schema 2020-12 as it is; writing it out drops what is not. */
export function writtenSchema(shape: TSchema): JsonObject {
  const schema: JsonValue = JSON.parse(JSON.stringify(shape));
  if (!isJsonObject(schema)) throw new TypeError('a schema that is no object');
  return schema;
}
