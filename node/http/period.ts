import { readRfc3339, TimeError } from '../../protocol/time.ts';
import { fieldError, Problem } from './problem.ts';

/** A period of time in epoch milliseconds: `from` is included, `to` is not. Open where one is undefined. */
export interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** The period of two query parameters. Throws `Problem` `invalid-field` or `time-order`. */
export function readPeriod(times: { readonly from?: string; readonly to?: string }): Period {
  const from = timeOf('from', times.from);
  const to = timeOf('to', times.to);
  if (from === undefined || to === undefined || from <= to) return { from, to };
  throw new Problem('time-order', 'to is before from', {
    errors: [fieldError(['to'], 'time-order', 'is before from')],
  });
}

function timeOf(field: string, text: string | undefined): number | undefined {
  try {
    return text === undefined ? undefined : readRfc3339(text);
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    const message = 'is not an RFC 3339 time';
    throw new Problem('invalid-field', `${field} ${message}`, { errors: [fieldError([field], 'format', message)] });
  }
}
