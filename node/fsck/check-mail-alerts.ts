import { isMailReader } from '../../protocol/api/people.ts';
import { isAlertEvent } from '../alerts/mail/digest-mail.ts';
import { mailAlertTable, noticeTable } from '../alerts/mail/mail-alert-tables.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Who is told of what by mail, and what waits for their next mail. */
export const mailAlertCheck: TableCheck = {
  tables: [mailAlertTable, noticeTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, mailAlertTable)) {
      check.report.count('mailAlerts');
      if (value === undefined) continue;
      const isOwn = value.account === parts[0] && value.recipient === parts[1] && isMailReader(value.recipient);
      if (!isOwn) check.report.problem(mailAlertTable.name, key, 'is of another account, or of nobody who reads mail');
    }
    for await (const { key, parts } of readRows(check, noticeTable)) {
      const [account = '', recipient = '', event = ''] = parts;
      const alert = await mailAlertTable.get(check.store, account, recipient).catch(() => undefined);
      if (alert === undefined || !isAlertEvent(event)) {
        check.report.problem(noticeTable.name, key, 'is for nobody who is told of such events by mail');
      }
    }
  },
};
