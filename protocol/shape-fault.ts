import { isJsonArray, type JsonValue } from './json/value.ts';

/** Values in a text (members and items, at any depth) up to which a fault is located; a larger one is only refused. */
export const LOCATED_VALUES = 10_000;

export interface ShapeFault {
  /** JSON pointer of the value at fault; empty where it was not located. */
  readonly pointer: string;
  readonly message: string;
}

interface Explainer {
  Errors(value: unknown): readonly { readonly instancePath: string; readonly message: string }[];
}

/**
 * The first thing by which a value is not of a shape that has refused it. Looking for faults visits every item however
 * many there are, at a cost far above that of refusing, so it is done for values of a sensible size alone.
 */
export function shapeFault(shape: Explainer, value: JsonValue): ShapeFault {
  if (hasMoreThan(LOCATED_VALUES, value)) return { pointer: '', message: 'another shape, with very many members' };
  const [first] = shape.Errors(value);
  return { pointer: first?.instancePath ?? '', message: first?.message ?? 'has another shape' };
}

/** Whether there are more than `limit` values in `value`. Its nesting may be as deep as the sender liked. */
export function hasMoreThan(limit: number, value: JsonValue): boolean {
  const waiting: (JsonValue | undefined)[] = [value];
  for (let counted = 1; waiting.length > 0;) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const items: readonly (JsonValue | undefined)[] = isJsonArray(next) ? next : Object.values(next);
    counted += items.length;
    if (counted > limit) return true;
    for (const item of items) waiting.push(item);
  }
  return false;
}
