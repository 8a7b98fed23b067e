import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { accountCalendarTable, calendarTable } from '../../../../node/alerts/calendar/calendars.ts';
import { isKeyId } from '../../../../node/accounts/key-id.ts';
import type { Operation } from '../../../../node/store/operation.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { fsckAfter, problemsOf } from '../../fsck/damaged-home.ts';

const network = await TestNetwork.start({ ledger: 'local' });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const statusOf = async (token: string) => (await node.get(`/v1/calendar/${token}/due.ics`, { key: null })).status;

/** Rows of an address as they were while an account had one alone. */
async function oldRows(apiKey: string, token: string): Promise<readonly Operation[]> {
  const found = await node.context.accounts.authenticate(apiKey);
  if (typeof found === 'string') throw new Error(found);
  const {
    account,
    key: { id },
  } = found.caller;
  if (!isKeyId(id)) throw new Error(id);
  const digest = createHash('sha256').update(`meridian/calendar/1\0${token}`).digest('hex');
  const calendar = { account: account.id, key: id, createdAt: timestampOf(Date.now()) };
  return [calendarTable.put([digest], calendar), accountCalendarTable.put([account.id], digest)];
}

test('an address whose index row names no key goes on after the start, and is ended by its key', async () => {
  const [token, before] = ['A'.repeat(43), 'B'.repeat(43)];
  const [one, other] = [{ key: API_KEYS.enterprise }, { key: API_KEYS.developer }];
  const { url } = (await node.post('/v1/calendar', {}, other)).body;
  const [, meanwhile = ''] = /\/v1\/calendar\/([\w-]{43})\//.exec(String(url)) ?? [];
  await node.context.store.write([...(await oldRows(one.key, token)), ...(await oldRows(other.key, before))]);
  await node.stop();
  await node.start();
  assert.is(await statusOf(token), 200);
  assert.is(await statusOf(before), 404, 'its key made another one meanwhile');
  assert.is(await statusOf(meanwhile), 200);
  await node.stop();
  assert.equal(problemsOf(await fsckAfter(node.config.home, async () => [])), []);
  await node.start();
  assert.is((await node.send('DELETE', '/v1/calendar', undefined, one)).status, 200);
  assert.is(await statusOf(token), 404);
  await node.stop();
  assert.equal(problemsOf(await fsckAfter(node.config.home, async () => [])), []);
});

test.run();
