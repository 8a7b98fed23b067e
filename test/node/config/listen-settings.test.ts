import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Environment } from '../../../node/config/environment.ts';
import { configWith, refusalOf } from './settings.ts';

test('metrics are shown on loopback, unless the operator names another place', () => {
  const metricsAt = (text: string) => configWith({ METRICS_LISTEN: text }).metrics;
  assert.equal(configWith({}).metrics, { host: '127.0.0.1', port: 4400 });
  assert.equal(metricsAt('127.0.0.1:4401'), { host: '127.0.0.1', port: 4401 });
  assert.equal(metricsAt('[::1]:0'), { host: '::1', port: 0 });
  assert.equal(metricsAt('metrics.internal:65535'), { host: 'metrics.internal', port: 65_535 });
});

test('what is no place to listen is refused by name', () => {
  for (const text of [
    '4400',
    ':4400',
    'localhost',
    'localhost:',
    'localhost:x',
    'localhost:65536',
    '::1:4400',
    '[::1]',
    'a b:1',
  ]) {
    assert.match(refusalOf({ METRICS_LISTEN: text }), /^METRICS_LISTEN is not host:port$/, text);
  }
});

test('proxies are named by their addresses, and let the node listen beyond loopback without a certificate', () => {
  const { http } = configWith({ HTTP_HOST: '0.0.0.0', TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.53,2001:db8::/32' });
  for (const address of ['10.9.8.7', '::ffff:10.9.8.7', '192.0.2.53', '2001:db8:1::1']) {
    assert.ok(http.trustedProxies.admits(address), address);
  }
  for (const address of ['11.0.0.1', '192.0.2.54', '127.0.0.1', '2001:db9::1']) {
    assert.not.ok(http.trustedProxies.admits(address), address);
  }
  assert.not.ok(configWith({}).http.trustedProxies.admits('127.0.0.1'));
});

test('what names no proxies, or everyone, is refused by name', () => {
  const refused: readonly (readonly [RegExp, Environment])[] = [
    [/^HTTP_HOST 0\.0\.0\.0 needs TLS_CERT and TLS_KEY, or TRUSTED_PROXIES$/, { HTTP_HOST: '0.0.0.0' }],
    [/^TRUSTED_PROXIES: 1 is no address/, { TRUSTED_PROXIES: '1' }],
    [/^TRUSTED_PROXIES: 10\.0\.0\.0\/33 is no address/, { TRUSTED_PROXIES: '192.0.2.1,10.0.0.0/33' }],
    [/^TRUSTED_PROXIES: proxy\.internal is no address/, { TRUSTED_PROXIES: 'proxy.internal' }],
    [/^TRUSTED_PROXIES: ::ffff:10\.0\.0\.0\/104 is no address/, { TRUSTED_PROXIES: '::ffff:10.0.0.0/104' }],
    [/^TRUSTED_PROXIES: ::ffff:0:0\/96 is no address/, { TRUSTED_PROXIES: '::ffff:0:0/96' }],
    [/^TRUSTED_PROXIES: ::ffff:0a00:0001 is no address/, { TRUSTED_PROXIES: '::ffff:0a00:0001' }],
    [/^TRUSTED_PROXIES: 0:0:0:0:0:FFFF::\/95 is no address/, { TRUSTED_PROXIES: '0:0:0:0:0:FFFF::/95' }],
    [/^TRUSTED_PROXIES: 0\.0\.0\.0\/0 is more than your proxies/, { TRUSTED_PROXIES: '0.0.0.0/0' }],
    [/^TRUSTED_PROXIES: 0\.0\.0\.0\/1 is more than/, { TRUSTED_PROXIES: '0.0.0.0/1,128.0.0.0/1' }],
    [/^TRUSTED_PROXIES: 10\.0\.0\.0\/7 is more than/, { TRUSTED_PROXIES: '10.0.0.0/7' }],
    [/^TRUSTED_PROXIES: ::\/0 is more than/, { TRUSTED_PROXIES: '::/0' }],
    [/^TRUSTED_PROXIES: ::\/1 is more than/, { TRUSTED_PROXIES: '::/1' }],
    [/^TRUSTED_PROXIES: 2001::\/15 is more than/, { TRUSTED_PROXIES: '2001::/15' }],
    [/^TRUSTED_PROXIES: ::\/64 is more than/, { TRUSTED_PROXIES: '::/64' }],
  ];
  for (const [expected, variables] of refused) assert.match(refusalOf(variables), expected);
  assert.is(refusalOf({ TRUSTED_PROXIES: '10.0.0.0/8,fd00::/16,::1,::/96' }), 'accepted');
});

test('the setting that it replaces is refused, whatever it says, with what to write instead', () => {
  for (const BEHIND_PROXY of ['0', '1', 'yes']) {
    assert.match(
      refusalOf({ BEHIND_PROXY, TRUSTED_PROXIES: '10.0.0.0/8' }),
      /^BEHIND_PROXY .*TRUSTED_PROXIES.*10\.0\.0\.0\/8$/,
    );
  }
});

test.run();
