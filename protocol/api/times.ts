import Type from 'typebox';
import { documented } from '../shapes.ts';
import { RFC3339_PATTERN } from '../time.ts';
import { TextShape } from './fields.ts';

const MAX_TIME_CHARACTERS = 64;

/** A time as RFC 3339 has it: an offset and up to nine decimals; a leap second is the second after it. */
export const MomentShape = TextShape(1, MAX_TIME_CHARACTERS, {
  title: 'Moment',
  ...documented({ format: 'date-time', pattern: RFC3339_PATTERN }),
});

/** The same, or a day of UTC as `2026-11-21`. */
export const TimeOrDayShape = Type.Union(
  [
    MomentShape,
    TextShape(1, MAX_TIME_CHARACTERS, {
      title: 'Day',
      ...documented({ format: 'date', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
    }),
  ],
  { title: 'TimeOrDay' },
);
