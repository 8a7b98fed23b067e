import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';

/** A request's body in parts: all of it, and those members that no schema names. */
export interface RequestBody {
  readonly body: JsonObject;
  readonly additional: ReadonlyMap<string, JsonValue>;
}

/**
 * RFC 8785 text of all of a request: the payload of its record. Members that no schema names stand under `additional`.
 */
export function payloadText({ body, additional }: RequestBody): string {
  if (additional.size === 0) return canonicalize(body);
  const documented = Object.entries(body).filter(([name]) => !additional.has(name));
  return canonicalize(Object.fromEntries([...documented, ['additional', Object.fromEntries(additional)]]));
}

/** Names of the documented members that were given, sorted: what the record has on file. */
export function givenMembers({ body, additional }: RequestBody): string[] {
  return Object.keys(body)
    .filter((name) => !additional.has(name))
    .sort();
}
