import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressList, NO_ADDRESSES } from '../../../../node/outbound/address-list.ts';
import { addressKey, clientAddress, plainAddress } from '../../../../node/accounts/limits/client-address.ts';
import { fc } from '../../../fixtures/properties.ts';

const PROXIES = new AddressList(['10.0.0.0/8', '192.0.2.53', 'fd00::/8']);
const PROXY = '10.0.0.1';

/** The caller of a request that came from a proxy of ours. */
function behindProxy(forwardedFor: string | undefined, remoteAddress = PROXY): string {
  return clientAddress({ remoteAddress, forwardedFor }, PROXIES);
}

test('a stranger who writes the header is not believed', () => {
  const forwardedFor = '198.51.100.1';
  assert.is(clientAddress({ remoteAddress: '192.0.2.9', forwardedFor }, NO_ADDRESSES), '192.0.2.9');
  for (const stranger of ['192.0.2.9', '11.0.0.1', '2001:db8::9', '::ffff:192.0.2.9']) {
    assert.is(behindProxy(forwardedFor, stranger), plainAddress(stranger));
    assert.is(behindProxy(`${forwardedFor}, 10.0.0.2`, stranger), plainAddress(stranger));
  }
});

test('the caller is the rightmost address that is no proxy of ours: it may have made up the others', () => {
  assert.is(behindProxy('203.0.113.7'), '203.0.113.7');
  assert.is(behindProxy('1.1.1.1, 8.8.8.8 ,203.0.113.7 '), '203.0.113.7');
  assert.is(behindProxy('1.1.1.1,203.0.113.7,192.0.2.53,10.9.9.9'), '203.0.113.7');
  assert.is(behindProxy('203.0.113.7, fd00::5', 'fd12::1'), '203.0.113.7');
  assert.is(behindProxy('10.0.0.7, 203.0.113.7'), '203.0.113.7');
});

test('an address is the same however it is written', () => {
  assert.is(behindProxy('203.0.113.7:52011'), '203.0.113.7');
  assert.is(behindProxy('[2001:db8::7]:443'), '2001:db8::7');
  assert.is(behindProxy('[2001:db8::7]'), '2001:db8::7');
  assert.is(behindProxy('2001:0DB8:0::7'), '2001:db8::7');
  assert.is(behindProxy('::ffff:203.0.113.7'), '203.0.113.7');
  assert.is(behindProxy('::ffff:cb00:7107'), '203.0.113.7');
  assert.is(behindProxy('203.0.113.7, ::ffff:10.4.4.4', '::ffff:a00:1'), '203.0.113.7');
  assert.is(behindProxy('fe80::1%eth0'), 'fe80::1');
});

test('a caller on a proxy of ours is that address', () => {
  assert.is(behindProxy('10.0.0.7, 10.0.0.8'), '10.0.0.7');
  assert.is(behindProxy(undefined), PROXY);
  assert.is(behindProxy(''), PROXY);
});

test('where an entry is no address, the proxy that wrote it stands for the caller', () => {
  for (const malformed of [
    ',',
    ' ',
    'unknown',
    '_hidden',
    '999.1.1.1',
    '010.1.1.1',
    '[::1',
    '1.1.1.1:',
    '1.1.1.1:123456',
    '::ffff:999.1.1.1',
    'a'.repeat(5000),
  ]) {
    assert.is(behindProxy(malformed), PROXY, malformed);
    assert.is(behindProxy(`203.0.113.7, ${malformed}`), PROXY, malformed);
    assert.is(behindProxy(`203.0.113.7, ${malformed}, 10.0.0.3`), '10.0.0.3', malformed);
    assert.is(behindProxy(`${malformed}, 203.0.113.7`), '203.0.113.7', malformed);
  }
  assert.is(clientAddress({ remoteAddress: undefined, forwardedFor: undefined }, PROXIES), 'unknown');
  assert.is(clientAddress({ remoteAddress: undefined, forwardedFor: '203.0.113.7' }, PROXIES), 'unknown');
});

test('a long row of proxies is not followed without end', () => {
  const row = (length: number) => ['203.0.113.7', ...Array.from({ length }, (_, i) => `10.1.1.${i}`)].join(',');
  assert.is(behindProxy(row(31)), '203.0.113.7');
  assert.is(behindProxy(row(32)), '10.1.1.0');
  assert.is(behindProxy(row(255)), '10.1.1.223');
});

test('whatever a caller writes, what our proxies wrote after it decides', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const ipv4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  const ipv6 = groups.map((parts) => parts.map((part) => part.toString(16)).join(':'));
  const ours = fc.oneof(
    fc.tuple(octet, octet, octet).map((parts) => `10.${parts.join('.')}`),
    fc.tuple(octet, octet, octet).map((parts) => `::ffff:10.${parts.join('.')}`),
    ipv6.map((address) => address.replace(/^[^:]*/, 'fd12')),
  );
  const isOurs = (address: string) => /^(10\.|fd[0-9a-f]{2}:|192\.0\.2\.53$)/.test(plainAddress(address));
  const stranger = fc
    .oneof(
      ipv4,
      ipv6,
      ipv4.map((address) => `::ffff:${address}`),
    )
    .filter((address) => !isOurs(address));
  const header = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(ipv4, ipv6, ours, fc.string())).map((all) => all.join(',')),
  );
  fc.assert(
    fc.property(stranger, header, fc.array(ours, { maxLength: 8 }), ours, (caller, written, between, peer) => {
      const forwardedFor = [written, caller, ...between].join(', ');
      assert.is(behindProxy(forwardedFor, peer), plainAddress(caller));
      assert.is(behindProxy(forwardedFor, caller), plainAddress(caller));
    }),
  );
});

test('an IPv4 address is one caller, however its socket writes it', () => {
  assert.is(plainAddress('::ffff:192.0.2.9'), '192.0.2.9');
  assert.is(addressKey('192.0.2.9'), '192.0.2.9');
});

test('IPv6 callers of one /64 are one', () => {
  assert.is(addressKey('2001:db8:0:1::1'), '2001:db8:0:1::/64');
  assert.is(addressKey('2001:0DB8:0000:0001:ffff:0:0:9'), '2001:db8:0:1::/64');
  assert.is(addressKey('2001:db8::1'), '2001:db8:0:0::/64');
  assert.is(addressKey('::1'), '0:0:0:0::/64');
  assert.is(addressKey('64:ff9b::192.0.2.1'), '64:ff9b:0:0::/64');
  assert.is(plainAddress('fe80::1%eth0'), 'fe80::1');
});

test('the key of any IPv6 address is that of its first four groups alone', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 8, maxLength: 8 }),
      fc.array(group, { minLength: 4, maxLength: 4 }),
      (a, b) => {
        const text = (groups: readonly number[]) => groups.map((part) => part.toString(16)).join(':');
        const key = addressKey(text(a));
        assert.is(key, `${text(a.slice(0, 4))}::/64`);
        assert.is(addressKey(text([...a.slice(0, 4), ...b])), key);
      },
    ),
  );
});

test.run();
