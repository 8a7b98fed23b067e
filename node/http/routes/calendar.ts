import Type from 'typebox';
import {
  CALENDAR_EXAMPLE,
  CALENDAR_TOKEN_PATTERN,
  CALENDAR_TYPE,
  DeletedCalendarAnswerShape,
  MadeCalendarAnswerShape,
} from '../../../protocol/api/calendar.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { Calendars } from '../../alerts/calendar/calendars.ts';
import type { DueCalendar } from '../../alerts/calendar/due-calendar.ts';
import { type AddressOf, requireHome } from '../home-only.ts';
import { Problem } from '../problem.ts';
import type { FreeRoute, KeyRoute, Route } from '../route.ts';
import { SECRET_PATH_HEADERS } from '../secret-paths.ts';

const PATH = '/v1/calendar';
const FILE_HEADERS = { ...SECRET_PATH_HEADERS, 'Cache-Control': 'private, no-store', 'Content-Type': CALENDAR_TYPE };

export interface CalendarRouteServices {
  readonly calendars: Calendars;
  readonly dueCalendar: DueCalendar;
  readonly addressOf: AddressOf;
  readonly baseUrl: () => string;
}

/** `/v1/calendar` (api-rules §2.12): what is due, for programs that show calendars. */
export function calendarRoutes(services: CalendarRouteServices): readonly Route[] {
  return [createRoute(services), deleteRoute(services), fileRoute(services)];
}

function createRoute({ calendars, addressOf, baseUrl }: CalendarRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: PATH,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'Makes an address for the calendar of what is due',
      description:
        'The first clocks of incidents, reviews that are due, ends of keys and of locks, as far as the key sees them. The address is a secret ' +
        'and is shown once. Each key has one: a new one takes the place of its old one, and it ends with the key.',
      answer: { shape: MadeCalendarAnswerShape, example: CALENDAR_EXAMPLE.made },
      problems: ['home-only'],
    },
    async answer(_call, caller) {
      requireHome(caller, addressOf);
      const token = await calendars.create(caller);
      return { body: { success: true, url: `${baseUrl()}${PATH}/${token}/due.ics` } };
    },
  };
}

function deleteRoute({ calendars }: CalendarRouteServices): KeyRoute {
  return {
    method: 'DELETE',
    path: PATH,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'Ends the address of the calendar',
      description: 'The one that the key has made. Where there is none, nothing is changed.',
      answer: { shape: DeletedCalendarAnswerShape, example: CALENDAR_EXAMPLE.deleted },
      problems: [],
    },
    async answer(_call, caller) {
      await calendars.delete(caller);
      return { body: { success: true } };
    },
  };
}

function fileRoute({ calendars, dueCalendar }: CalendarRouteServices): FreeRoute {
  return {
    method: 'GET',
    path: `${PATH}/:token/due.ics`,
    access: 'free',
    crossOrigin: false,
    documentation: {
      summary: 'The calendar of what is due',
      description: 'By RFC 5545. One answer for addresses that ended and never were.',
      params: {
        token: {
          description: 'From the address.',
          shape: Type.String({ pattern: CALENDAR_TOKEN_PATTERN }),
          example: EXAMPLE_IDS.calendarToken,
        },
      },
      answer: { contentType: CALENDAR_TYPE, example: CALENDAR_EXAMPLE.file },
      problems: ['link-invalid'],
    },
    async answer({ params: { token = '' } }) {
      const caller = await calendars.find(token);
      if (caller === undefined) throw new Problem('link-invalid', 'This address leads to no calendar.');
      return { body: await dueCalendar.textFor(caller), headers: FILE_HEADERS };
    },
  };
}
