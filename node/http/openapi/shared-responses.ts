import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';

interface Shared {
  readonly paths: JsonObject;
  /** Responses that several operations have, by the name that they go by. */
  readonly responses: JsonObject;
}

/**
 * Writes each refusal that several operations have in common once: most of the document would be repetition. Answers of
 * acceptance stay where they are.
 */
export function shareResponses(paths: JsonObject): Shared {
  const uses = new Map<string, number>();
  const count = (text: string): void => void uses.set(text, (uses.get(text) ?? 0) + 1);
  mapRefusals(paths, (_, response) => {
    count(JSON.stringify(response));
    return response;
  });
  const names = new Map<string, string>();
  const responses = new Map<string, JsonObject>();
  const shared = mapRefusals(paths, (status, response) => {
    const text = JSON.stringify(response);
    if (uses.get(text) === 1) return response;
    const name = names.get(text) ?? freshName(`Refused${status}`, responses);
    names.set(text, name);
    responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  });
  return { paths: shared, responses: Object.fromEntries(responses) };
}

/** The paths with every refusal of every operation replaced by what it is mapped to. */
function mapRefusals(paths: JsonObject, map: (status: string, response: JsonObject) => JsonObject): JsonObject {
  return mapMembers(paths, (methods) =>
    mapMembers(methods, (operation) => {
      const { responses } = operation;
      if (!isJsonObject(responses)) return operation;
      const mapped = mapMembers(responses, (response, status) => (status < '400' ? response : map(status, response)));
      return { ...operation, responses: mapped };
    }),
  );
}

function mapMembers(object: JsonObject, map: (member: JsonObject, name: string) => JsonObject): JsonObject {
  const mapped = Object.entries(object).map(([name, member]) => [
    name,
    isJsonObject(member) ? map(member, name) : member,
  ]);
  return Object.fromEntries(mapped);
}

function freshName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}-${number}`;
  return name;
}
