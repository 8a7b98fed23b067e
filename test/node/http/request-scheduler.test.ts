import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AuthenticatedKey } from '../../../node/accounts/known-keys.ts';
import { AddressList, NO_ADDRESSES } from '../../../node/outbound/address-list.ts';
import { RequestScheduler } from '../../../node/http/request-scheduler.ts';
import { until } from '../../fixtures/until.ts';

/** How long each request takes to begin: four of them are a turn's worth. In milliseconds. */
const BEGINS_MS = 1;
const TOGETHER = 100;
/** Fewer than one caller alone may begin in a turn, and more than beside others. */
const ALONE = 15;

interface Asked {
  readonly from?: string;
  readonly key?: string;
  readonly path?: string;
}

/** A scheduler whose clock moves by what is begun; accounts are named by their keys. */
function scheduled(addresses: AddressList | null = null) {
  let clock = 0;
  const begun: string[] = [];
  const scheduler = new RequestScheduler({
    accounts: { peek: (apiKey) => (apiKey.startsWith('known') ? keyOf(apiKey, addresses) : undefined) },
    trustedProxies: NO_ADDRESSES,
    now: () => clock,
  });
  return {
    begun,
    scheduler,
    ask(name: string, { from = '192.0.2.1', key, path = '/v1/proofs/x' }: Asked = {}): Socket {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: from });
      const request = new IncomingMessage(socket);
      request.url = path;
      if (key !== undefined) request.headers['x-api-key'] = key;
      scheduler.schedule(request, () => {
        begun.push(name);
        clock += BEGINS_MS;
      });
      return socket;
    },
  };
}

function keyOf(id: string, addresses: AddressList | null): AuthenticatedKey {
  const account = { id, tier: 'developer' } as const;
  return { caller: { account, key: { id, scopes: [], sources: null } }, addresses };
}

test('what comes while the event loop keeps up is begun at once', () => {
  const { ask, begun } = scheduled();
  for (const name of ['a', 'b', 'c']) ask(name, { from: `192.0.2.${begun.length}` });
  assert.equal(begun, ['a', 'b', 'c']);
});

test('who comes after very many requests of one stranger is begun within a turn', async () => {
  const { ask, begun, scheduler } = scheduled();
  for (let n = 0; n < TOGETHER; n++) ask('stranger');
  ask('honest', { key: 'known' });
  ask('health', { path: '/v1/health', from: '192.0.2.2' });
  assert.ok(begun.length < TOGETHER / 2);
  await until('all to be begun', () => scheduler.waiting === 0);
  assert.is(begun.length, TOGETHER + 2);
  assert.ok(begun.indexOf('health') < TOGETHER / 2, String(begun.indexOf('health')));
  assert.ok(begun.indexOf('honest') < TOGETHER / 2, String(begun.indexOf('honest')));
});

test('the health is told as it is asked for, four times to an address and 16 times in a turn', async () => {
  const { ask, begun, scheduler } = scheduled();
  for (let n = 0; n < TOGETHER; n++) ask('stranger');
  const before = begun.length;
  const path = '/v1/health';
  for (let n = 0; n < 8; n++) ask('flood', { path, from: '192.0.2.9' });
  for (let n = 0; n < 14; n++) ask(`monitor ${n}`, { path, from: `192.0.2.${10 + n}` });
  const monitors = Array.from({ length: 12 }, (_, n) => `monitor ${n}`);
  assert.equal(begun.slice(before), [...Array(4).fill('flood'), ...monitors]);
  await until('all to be begun', () => scheduler.waiting === 0);
  assert.is(begun.length, TOGETHER + 22);
  assert.ok(begun.indexOf('monitor 13') < TOGETHER / 2, String(begun.indexOf('monitor 13')));
});

test('strangers are begun beside accounts without end', async () => {
  const { ask, begun, scheduler } = scheduled();
  for (let n = 0; n < TOGETHER; n++) ask('account', { key: 'known' });
  ask('stranger');
  await until('all to be begun', () => scheduler.waiting === 0);
  assert.ok(begun.indexOf('stranger') < TOGETHER / 2, String(begun.indexOf('stranger')));
});

test('what one alone asks for is begun together', () => {
  const { ask, begun } = scheduled();
  for (let n = 0; n < ALONE; n++) ask('alone', { key: 'known' });
  assert.is(begun.length, ALONE);
  ask('other');
  assert.is(begun.length, ALONE);
});

test('what one alone has waiting is begun in one turn', async () => {
  const { ask, begun } = scheduled();
  ask('other', { from: '192.0.2.7' });
  for (let n = 0; n < TOGETHER; n++) ask('alone');
  assert.ok(begun.length < TOGETHER);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.is(begun.length, TOGETHER + 1);
});

test('a key that is not taken from where it comes from, or is not known, is a stranger', async () => {
  const { ask, begun, scheduler } = scheduled(new AddressList(['198.51.100.0/24']));
  for (let n = 0; n < TOGETHER; n++) ask('stranger', { from: '192.0.2.1' });
  for (let n = 0; n < TOGETHER; n++) ask('stolen', { from: '192.0.2.1', key: 'known' });
  ask('own', { from: '198.51.100.1', key: 'known' });
  await until('all to be begun', () => scheduler.waiting === 0);
  assert.ok(begun.indexOf('own') < TOGETHER / 2);
  // Of one address, in the order they came.
  assert.ok(begun.indexOf('stolen') > begun.lastIndexOf('stranger'));
});

test('a request whose caller has gone is never begun', async () => {
  const { ask, begun, scheduler } = scheduled();
  for (let n = 0; n < TOGETHER; n++) ask('stranger');
  ask('gone', { from: '192.0.2.9' }).destroy();
  await until('all to be begun', () => scheduler.waiting === 0);
  assert.is(begun.length, TOGETHER);
});

test.run();
