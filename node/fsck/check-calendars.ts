import { accountCalendarTable, calendarTable } from '../alerts/calendar/calendars.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

const DIGEST = /^[0-9a-f]{64}$/;

/** Addresses of calendars: digests, each the one of its key. */
export const calendarCheck: TableCheck = {
  tables: [calendarTable, accountCalendarTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, calendarTable)) {
      const digest = parts.join('/');
      if (!DIGEST.test(digest)) check.report.problem(calendarTable.name, key, 'is no digest of an address');
      if (value === undefined) continue;
      if ((await accountCalendarTable.get(check.store, value.account, value.key)) === digest) continue;
      check.report.problem(calendarTable.name, key, `is not the calendar of the key ${value.key}`);
    }
    for await (const { key, parts, value } of readRows(check, accountCalendarTable)) {
      if (value === undefined) continue;
      const held = DIGEST.test(value) ? await calendarTable.get(check.store, value).catch(() => undefined) : undefined;
      if (held?.account === parts[0] && held?.key === parts[1]) continue;
      check.report.problem(accountCalendarTable.name, key, 'names a calendar that is not there, or another one');
    }
  },
};
