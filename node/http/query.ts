import type { Static, TObject, TSchema } from 'typebox';
import { fieldProblem } from './problem.ts';
import { readTimeOrDay } from './recording/asserted-times.ts';
import { validator } from './validation.ts';

/** Digits of the integers that a number holds exactly, and of some beyond, which every bound refuses. */
const INTEGER = /^(0|-?[1-9][0-9]{0,15})$/;

/** The parameters of a query. Throws `Problem` `invalid-field` where one is not UTF-8 in percent escapes. */
export function queryOf(search: string): URLSearchParams {
  if (search.includes('%')) for (const pair of search.slice(1).split('&')) requireDecodable(pair);
  return new URLSearchParams(search);
}

function requireDecodable(pair: string): void {
  try {
    decodeURIComponent(pair);
  } catch {
    const [name = ''] = pair.split('=');
    throw fieldProblem(name, 'encoding', 'is not UTF-8 in percent escapes');
  }
}

/**
 * A check of the query parameters against a schema whose members are texts and integers, which are written in decimal
 * digits. Throws `Problem` `invalid-field` or `missing-field`; a parameter of another name, or one given twice, is
 * refused too.
 */
export function queryReader<Shape extends TObject>(shape: Shape): (query: URLSearchParams) => Static<Shape> {
  const validate = validator(shape);
  const known = new Set(Object.keys(shape.properties));
  return (query) => {
    const values = new Map<string, string | number>();
    for (const [name, value] of query) {
      if (!known.has(name)) throw fieldProblem(name, 'unknown', 'is no parameter of this endpoint');
      if (values.has(name)) throw fieldProblem(name, 'repeated', 'is given more than once');
      values.set(name, isInteger(shape.properties[name]) && INTEGER.test(value) ? Number(value) : value);
    }
    return validate(Object.fromEntries(values));
  };
}

function isInteger(shape: TSchema | undefined): boolean {
  return shape !== undefined && 'type' in shape && shape.type === 'integer';
}

/** A period of time in epoch milliseconds: `from` is included, `to` is not. Open where one is undefined. */
export interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** The period of two query parameters. Throws `Problem` `invalid-field` or `time-order`. */
export function readPeriod(times: { readonly from?: string; readonly to?: string }): Period {
  const from = boundOf('from', times.from);
  const to = boundOf('to', times.to);
  if (from === undefined || to === undefined || from <= to) return { from, to };
  throw fieldProblem('to', 'time-order', 'is before from', 'time-order');
}

/** A bound of a period: a time, or the first moment of a day. Throws `Problem` `invalid-field`. */
export function boundOf(field: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : readTimeOrDay(field, text).first;
}
