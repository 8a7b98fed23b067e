import Type from 'typebox';
import { Closed } from '../shapes.ts';
import { EXAMPLE_IDS } from './example-ids.ts';

export const CALENDAR_TYPE = 'text/calendar; charset=utf-8';
/** Of a calendar's address: 256 bits, base64url. */
export const CALENDAR_TOKEN_PATTERN = '^[A-Za-z0-9_-]{43}$';

const success = Type.Literal(true);

/** `POST /v1/calendar`: the address is shown here and never again. */
export const MadeCalendarAnswerShape = Closed({ success, url: Type.String() });
/** `DELETE /v1/calendar`. */
export const DeletedCalendarAnswerShape = Closed({ success });

export const CALENDAR_EXAMPLE = {
  made: { success: true, url: EXAMPLE_IDS.calendarAddress },
  deleted: { success: true },
  file: 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Meridian//Calendar of what is due//EN\r\nEND:VCALENDAR',
} as const;
