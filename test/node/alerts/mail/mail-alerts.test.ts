import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type MailAlert, mailAlertTable, noticeTable } from '../../../../node/alerts/mail/mail-alert-tables.ts';
import { MAX_NOTICES, MailAlerts } from '../../../../node/alerts/mail/mail-alerts.ts';
import { OWNER } from '../../../../protocol/api/people.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { LogStore } from '../../log/log-store.ts';

const ACCOUNT = 'acme';

test('what is in a new state again and again waits as one notice, and leaves the others their lines', async () => {
  await using logStore = await LogStore.open();
  const { store } = logStore;
  const alert: MailAlert = {
    account: ACCOUNT,
    recipient: OWNER,
    events: ['list.updated', 'incident.overdue'],
    every: 'day',
    createdAt: timestampOf(Date.now()),
    mailedAt: null,
    failures: 0,
    lastError: null,
    notBefore: 0,
  };
  await store.write([mailAlertTable.put([ACCOUNT, OWNER], alert)]);
  const mailAlerts = await MailAlerts.open({
    store,
    auditLog: { recordWith: async () => undefined },
    people: { welcome: async () => undefined },
    mailer: {},
    payloadKey: Buffer.alloc(32, 7),
    copiedAt: null,
    now: Date.now,
    log: pino({ level: 'silent' }),
  });
  for (let n = 0; n < MAX_NOTICES; n++) {
    const data = { listId: 'us-ofac-sdn', attestationId: `att_${n}` };
    const found = { account: ACCOUNT, event: 'list.updated', subject: 'us-ofac-sdn', data } as const;
    await store.write(await mailAlerts.operations(found));
  }
  const overdue = {
    account: ACCOUNT,
    event: 'incident.overdue',
    subject: 'inc_1',
    data: { incidentId: 'inc_1' },
  } as const;
  await store.write(await mailAlerts.operations(overdue));
  const waiting = await Array.fromAsync(noticeTable.under(store, [ACCOUNT, OWNER]));
  assert.equal(
    waiting.map(([parts, { line }]) => `${parts.join()}: ${line?.slice(0, 5)}`),
    ['incident.overdue,inc_1: inc_1', 'list.updated,us-ofac-sdn: us-of'],
  );
});

test.run();
