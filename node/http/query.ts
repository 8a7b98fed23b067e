import type { Static, TObject, TSchema } from 'typebox';
import { fieldError, Problem } from './problem.ts';
import { validator } from './validation.ts';

/** Digits of the integers that a number holds exactly, and of some beyond, which every bound refuses. */
const INTEGER = /^(0|-?[1-9][0-9]{0,15})$/;

/**
 * A check of the query parameters against a schema whose members are texts and integers, which are written in decimal
 * digits. Throws `Problem` `invalid-field` or `missing-field`; a parameter of another name, or one given twice, is refused
 * too.
 */
export function queryReader<Shape extends TObject>(shape: Shape): (query: URLSearchParams) => Static<Shape> {
  const validate = validator(shape);
  const known = new Set(Object.keys(shape.properties));
  return (query) => {
    const values = new Map<string, string | number>();
    for (const [name, value] of query) {
      if (!known.has(name)) throw refused(name, 'unknown', 'is no parameter of this endpoint');
      if (values.has(name)) throw refused(name, 'repeated', 'is given more than once');
      values.set(name, isInteger(shape.properties[name]) && INTEGER.test(value) ? Number(value) : value);
    }
    return validate(Object.fromEntries(values));
  };
}

function isInteger(shape: TSchema | undefined): boolean {
  return shape !== undefined && 'type' in shape && shape.type === 'integer';
}

function refused(name: string, code: string, message: string): Problem {
  return new Problem('invalid-field', `${name} ${message}`, { errors: [fieldError([name], code, message)] });
}
