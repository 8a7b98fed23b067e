import { isJsonArray, type JsonValue } from './json/value.ts';

/** Values in a text (members and items, at any depth) up to which a fault is located; a larger one is only refused. */
const LOCATED_VALUES = 10_000;

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
  if (valuesLeft(value, LOCATED_VALUES) < 0) return { pointer: '', message: 'another shape, with very many members' };
  const [first] = shape.Errors(value);
  return { pointer: first?.instancePath ?? '', message: first?.message ?? 'has another shape' };
}

/** What is left of a budget after counting the values in `value`; negative as soon as it is spent. */
function valuesLeft(value: JsonValue, budget: number): number {
  let left = budget - 1;
  if (typeof value !== 'object' || value === null) return left;
  const items: readonly (JsonValue | undefined)[] = isJsonArray(value) ? value : Object.values(value);
  if (items.length > left) return -1;
  for (const item of items) {
    left = valuesLeft(item ?? null, left);
    if (left < 0) return left;
  }
  return left;
}
