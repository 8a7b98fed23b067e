import type { Static, TObject } from 'typebox';
import { fieldError, Problem } from './problem.ts';
import { validator } from './validation.ts';

/**
 * A check of the query parameters against a schema whose members are all text. Throws `Problem` `invalid-field` or
 * `missing-field`; a parameter of another name, or one given twice, is refused too.
 */
export function queryReader<Shape extends TObject>(shape: Shape): (query: URLSearchParams) => Static<Shape> {
  const validate = validator(shape);
  const known = new Set(Object.keys(shape.properties));
  return (query) => {
    const values = new Map<string, string>();
    for (const [name, value] of query) {
      if (!known.has(name)) throw refused(name, 'unknown', 'is no parameter of this endpoint');
      if (values.has(name)) throw refused(name, 'repeated', 'is given more than once');
      values.set(name, value);
    }
    return validate(Object.fromEntries(values));
  };
}

function refused(name: string, code: string, message: string): Problem {
  return new Problem('invalid-field', `${name} ${message}`, { errors: [fieldError([name], code, message)] });
}
