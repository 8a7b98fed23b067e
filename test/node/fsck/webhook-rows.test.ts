import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type MailAlert, mailAlertTable, noticeTable } from '../../../node/alerts/mail/mail-alert-tables.ts';
import { toldBatchTable } from '../../../node/alerts/webhook-tables.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { type Damage, fsckAfter, testDamages } from './damaged-home.ts';
import { drop, edit, move } from './mutations.ts';

const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 200 } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

await node.attest({ case: 1 });
const { status, text } = await node.post('/v1/webhooks', {
  url: 'http://127.0.0.1:9/',
  events: ['key.expiring', 'record.confirmed'],
});
assert.is(status, 200, text);
await node.post('/v1/keys', { preset: 'ingest', expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
await node.context.dueAlerts.look();
await node.post('/v1/calendar', {});
const { store, node: id } = { store: node.context.store, node: node.context.config.id };
await until('a batch to be told of', async () => {
  await node.seal();
  await node.context.confirmedBatches.look();
  return (await toldBatchTable.get(store, id)) !== undefined;
});
const account = 'acc_eu_unmetered';
const foundAt = timestampOf(Date.UTC(2026, 10, 20));
const alert: MailAlert = {
  account,
  recipient: 'owner',
  events: ['key.expiring'],
  every: 'day',
  createdAt: foundAt,
  mailedAt: null,
  failures: 0,
  lastError: null,
  notBefore: 0,
};
await store.write([
  mailAlertTable.put([account, 'owner'], alert),
  noticeTable.put([account, 'owner', 'key.expiring', 'key_eu_0'], { foundAt, line: 'a line', count: 1 }),
]);
await node.stop();

const DAMAGES: readonly Damage[] = [
  {
    what: 'mails go to another account',
    mutate: move('mail-alert/', 0, (key) => key.replace('unmetered', 'developer')),
    found: ['mail-alert', /is of another account/],
  },
  {
    what: 'mails go to nobody that there may be',
    mutate: edit('mail-alert/', 0, (row) => row.replace('"owner"', '"thief"')),
    found: ['mail-alert', /nobody who reads mail/],
  },
  {
    what: 'a notice waits for nobody',
    mutate: drop('mail-alert/', 0),
    found: ['mail-notice', /for nobody/],
  },
  {
    what: 'a notice is of an event that there is not',
    mutate: move('mail-notice/', 0, (key) => key.replace('key.expiring', 'key.lost')),
    found: ['mail-notice', /for nobody/],
  },
  {
    what: 'a webhook stands under another account',
    mutate: move('webhook/', 0, (key) => key.replace('unmetered', 'developer')),
    found: ['webhook', /is of another account/],
  },
  {
    what: 'a webhook does not read',
    mutate: edit('webhook/', 0, (row) => row.replace('"events"', '"even"')),
    found: ['webhook', /does not read/],
  },
  {
    what: 'a delivery is of another webhook',
    mutate: move('delivery/', 0, (key) => key.replace(/whk_eu_./, 'whk_eu_7')),
    found: ['delivery', /is of another webhook/],
  },
  {
    what: 'a delivery that is pending is not due',
    mutate: drop('delivery-due/', 0),
    found: ['delivery', /is not among those that are due/],
  },
  {
    what: 'what is due is of a delivery that is not there',
    mutate: drop('delivery/', 0),
    found: ['delivery-due', /is not pending at this time/],
  },
  {
    what: 'the address of a calendar is no digest',
    mutate: move('calendar/', 0, () => 'calendar/secret'),
    found: ['calendar', /no digest of an address/],
  },
  {
    what: 'a key has another calendar',
    mutate: drop('account-calendar/', 0),
    found: ['calendar', /is not the calendar of the key/],
  },
  {
    what: 'a key has a calendar that is not there',
    mutate: drop('calendar/', 0),
    found: ['account-calendar', /not there/],
  },
];

test('the store is whole', async () => {
  const { report } = await fsckAfter(node.config.home, async (rows) => {
    for (const table of [
      'webhook',
      'delivery',
      'delivery-due',
      'alert-mark',
      'told-batch',
      'mail-alert',
      'mail-notice',
    ]) {
      await rows.at(`${table}/`, 0);
    }
    return [];
  });
  assert.equal(report.findings, []);
  assert.is(report.counts.webhooks, 1);
});

testDamages(node.config.home, DAMAGES);

test.run();
