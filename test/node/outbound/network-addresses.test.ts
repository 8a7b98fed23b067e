import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HttpError } from '../../../node/outbound/http-client.ts';
import { mayReach } from '../../../node/outbound/network-addresses.ts';
import { pinnedPost, type Resolve } from '../../../node/outbound/pinned-post.ts';
import { Receiver } from '../alerts/receiver.ts';

const PUBLIC = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'];
/** Of closed networks. */
const NEAR = [
  '10.1.2.3',
  '127.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '198.18.0.1',
  '203.0.113.7',
  '::1',
  'fd00::1',
  '::ffff:10.0.0.1',
  '2001:db8::1',
  '3fff::1',
];
/** Of no use to anybody. */
const NOWHERE = [
  '0.0.0.0',
  '169.254.169.254',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  'fe80::1',
  'ff02::1',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  'no address',
  '',
];

test('only the public network is reached, whatever form an address has', () => {
  assert.equal(
    PUBLIC.filter((address) => !mayReach(address, 'public')),
    [],
  );
  assert.equal(
    [...NEAR, ...NOWHERE].filter((address) => mayReach(address, 'public')),
    [],
  );
});

test('a closed network is reached where that is set up, and link-local never', () => {
  assert.equal(
    [...PUBLIC, ...NEAR].filter((address) => !mayReach(address, 'private')),
    [],
  );
  assert.equal(
    NOWHERE.filter((address) => mayReach(address, 'private')),
    [],
  );
});

const request = {
  body: '{}',
  headers: {},
  timeoutMs: 500,
  signal: new AbortController().signal,
} as const;

test('a name whose addresses are not all of the public network is sent nothing', async () => {
  await using receiver = await Receiver.start();
  const { port } = new URL(receiver.url);
  const url = new URL(`http://hooks.example:${port}/`);
  const answers = [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['169.254.169.254'], []];
  for (const addresses of answers) {
    const resolve = resolvedTo(() => addresses);
    const error = await pinnedPost(url, { ...request, reach: 'public', resolve }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof HttpError && error.code === 'unreachable', String(error));
  }
  assert.is(receiver.received.length, 0);
});

test('the address that was looked at is the one that is connected to', async () => {
  await using receiver = await Receiver.start();
  const { port } = new URL(receiver.url);
  let asked = 0;
  // A name that leads elsewhere from its second look-up on.
  const resolve = resolvedTo(() => (asked++ === 0 ? ['127.0.0.1'] : ['169.254.169.254']));
  const url = new URL(`http://hooks.example:${port}/`);
  const { status } = await pinnedPost(url, { ...request, reach: 'private', resolve });
  assert.equal([status, asked, receiver.received.length], [204, 1, 1]);
});

test('an answer that does not come in time is waited for no longer', async () => {
  await using receiver = await Receiver.start();
  receiver.answer = () => {};
  const sent = pinnedPost(new URL(receiver.url), { ...request, reach: 'private' });
  const error = await sent.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof HttpError && error.code === 'late', String(error));
});

function resolvedTo(addresses: () => readonly string[]): Resolve {
  return async () => addresses().map((address) => ({ address, family: 4 }));
}

test.run();
