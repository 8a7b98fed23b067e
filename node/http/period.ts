import { fieldError, Problem } from './problem.ts';
import { readTimeOrDay } from './recording/asserted-times.ts';

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
  throw new Problem('time-order', 'to is before from', {
    errors: [fieldError(['to'], 'time-order', 'is before from')],
  });
}

/** A bound of a period: a time, or the first moment of a day. Throws `Problem` `invalid-field`. */
export function boundOf(field: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : readTimeOrDay(field, text).first;
}
