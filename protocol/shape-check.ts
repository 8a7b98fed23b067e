import type { Static, TSchema } from 'typebox';
import { Compile as compileNow, type Validator } from 'typebox/schema';

/** A check of values against a shape. */
export interface ShapeCheck<Shape extends TSchema> {
  Check(value: unknown): value is Static<Shape>;
  /** What is wrong with a value, none where it is of the shape. */
  Errors(value: unknown): ReturnType<Validator['Errors']>[1];
}

/**
 * A check that is compiled at its first use. A process knows some hundred shapes from its start on and needs a tenth of
 * them; those of its dearest routes may never come.
 */
export function Compile<Shape extends TSchema>(shape: Shape): ShapeCheck<Shape> {
  return new LateCheck(shape);
}

class LateCheck<Shape extends TSchema> implements ShapeCheck<Shape> {
  readonly #shape: Shape;
  #compiled: Validator | undefined;

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  Check(value: unknown): value is Static<Shape> {
    this.#compiled ??= compileNow(this.#shape);
    return this.#compiled.Check(value);
  }

  Errors(value: unknown) {
    this.#compiled ??= compileNow(this.#shape);
    const [, errors] = this.#compiled.Errors(value);
    return errors;
  }
}
