import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { JsonValue } from '../../../protocol/json/value.ts';

/** A check that a value is of a schema, with no member beside it. Throws naming the first place that is not. */
export function shapeCheck(shape: TSchema): (value: JsonValue) => void {
  const compiled = Compile(shape);
  return (value) => {
    if (compiled.Check(value)) return;
    const [fault] = compiled.Errors(value);
    throw new Error(`answer${fault?.instancePath ?? ''} ${fault?.message ?? 'has another shape'}`);
  };
}
