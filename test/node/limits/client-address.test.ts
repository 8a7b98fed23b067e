import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addressKey, clientAddress } from '../../../node/limits/client-address.ts';
import { fc } from '../../fixtures/properties.ts';

test('without a proxy a forwarded address is not believed', () => {
  assert.is(clientAddress({ remoteAddress: '192.0.2.9', forwardedFor: '198.51.100.1' }, false), '192.0.2.9');
});

test('behind a proxy the last forwarded address counts: the caller may have made up the others', () => {
  const remoteAddress = '10.0.0.1';
  const from = (forwardedFor: string | undefined) => clientAddress({ remoteAddress, forwardedFor }, true);
  assert.is(from('203.0.113.7'), '203.0.113.7');
  assert.is(from('1.1.1.1, 8.8.8.8 ,203.0.113.7 '), '203.0.113.7');
  assert.is(from('203.0.113.7:52011'), '203.0.113.7');
  assert.is(from('[2001:db8::7]:443'), '2001:db8::7');
  assert.is(from('2001:db8::7'), '2001:db8::7');
});

test('a header that holds no address leaves that of the connection', () => {
  for (const forwardedFor of [
    undefined,
    '',
    ',',
    'unknown',
    '203.0.113.7, _hidden',
    '999.1.1.1',
    '[::1',
    'a'.repeat(5000),
  ]) {
    assert.is(clientAddress({ remoteAddress: '10.0.0.1', forwardedFor }, true), '10.0.0.1');
  }
  assert.is(clientAddress({ remoteAddress: undefined, forwardedFor: undefined }, true), 'unknown');
});

test('an IPv4 address is one caller, however its socket writes it', () => {
  assert.is(clientAddress({ remoteAddress: '::ffff:192.0.2.9', forwardedFor: undefined }, false), '192.0.2.9');
  assert.is(addressKey('192.0.2.9'), '192.0.2.9');
});

test('IPv6 callers of one /64 are one', () => {
  assert.is(addressKey('2001:db8:0:1::1'), '2001:db8:0:1::/64');
  assert.is(addressKey('2001:0DB8:0000:0001:ffff:0:0:9'), '2001:db8:0:1::/64');
  assert.is(addressKey('2001:db8::1'), '2001:db8:0:0::/64');
  assert.is(addressKey('::1'), '0:0:0:0::/64');
  assert.is(addressKey('64:ff9b::192.0.2.1'), '64:ff9b:0:0::/64');
  assert.is(clientAddress({ remoteAddress: 'fe80::1%eth0', forwardedFor: undefined }, false), 'fe80::1');
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
