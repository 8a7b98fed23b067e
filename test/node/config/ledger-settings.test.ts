import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Environment } from '../../../node/config/environment.ts';
import { ConfigError } from '../../../node/config/read-variable.ts';
import { configWith, refusalOf } from './settings.ts';

test("the second source and its spend guard are the reading's own where nothing is set", () => {
  const { ledger } = configWith({});
  assert.equal(['secondSourceMs' in ledger, 'queriesPerHour' in ledger], [false, false]);
});

test('seconds until a second source is asked, and questions an hour', () => {
  const { ledger } = configWith({ LEDGER_SECOND_SOURCE: '0.5', LEDGER_QUERIES_PER_HOUR: '60' });
  assert.equal([ledger.secondSourceMs, ledger.queriesPerHour], [500, 60]);
});

test('what is no positive number is refused by the name of its variable', () => {
  for (const name of ['LEDGER_SECOND_SOURCE', 'LEDGER_QUERIES_PER_HOUR']) {
    for (const value of ['0', '-1', 'soon', 'Infinity']) {
      try {
        configWith({ [name]: value });
        assert.unreachable(`${name}=${value}`);
      } catch (error) {
        assert.instance(error, ConfigError, String(error));
        assert.match(String(error), name);
      }
    }
  }
});

test('a validity, a mirror and an interval that a node cannot work with are refused by the name of the variable', () => {
  const refused: readonly (readonly [RegExp, Environment])[] = [
    ...['10', '14', '121', '180', '15.5', 'long'].map(
      (LEDGER_VALID_SECONDS) =>
        [/^LEDGER_VALID_SECONDS is no whole number from 15 to 120$/, { LEDGER_VALID_SECONDS }] as const,
    ),
    ...['foo', 'mirror.example.org:443', 'ftp://mirror.example.org', 'https://mirror.example.org,foo'].map(
      (LEDGER_MIRRORS) => [/^LEDGER_MIRRORS holds what is not an http\(s\) URL$/, { LEDGER_MIRRORS }] as const,
    ),
    ...['foo=0.0.3', '127.0.0.1:4301', '127.0.0.1:4301=3', '127.0.0.1:70000=0.0.3', '127.0.0.1:4301=0.0.3=0.0.4'].map(
      (LEDGER_NODES) => [/^LEDGER_NODES is host:port=0\.0\.n, separated by commas$/, { LEDGER_NODES }] as const,
    ),
    [/^BATCH_INTERVAL is at most 3600$/, { BATCH_INTERVAL: '15000' }],
    // 3,000,000 s are more than a timer of Node takes, which then rings after a millisecond.
    ...['3601', '3000000'].flatMap((seconds): (readonly [RegExp, Environment])[] => [
      [/^LEDGER_READ_INTERVAL is at most 3600$/, { LEDGER_READ_INTERVAL: seconds }],
      [/^LEDGER_SECOND_SOURCE is at most 3600$/, { LEDGER_SECOND_SOURCE: seconds }],
    ]),
  ];
  for (const [expected, variables] of refused) assert.match(refusalOf(variables), expected);
  const taken = configWith({
    LEDGER_VALID_SECONDS: '15',
    LEDGER_MIRRORS: 'https://one.example.org, http://127.0.0.1:5551',
    LEDGER_NODES: '127.0.0.1:4301=0.0.3,[::1]:4302=0.0.4,ledger.example.org:50211=0.0.5',
    BATCH_INTERVAL: '3600',
    LEDGER_READ_INTERVAL: '3600',
    LEDGER_SECOND_SOURCE: '3600',
  });
  assert.equal(
    [taken.ledger.validSeconds, taken.ledger.mirrors],
    [15, ['https://one.example.org', 'http://127.0.0.1:5551']],
  );
  const { batchIntervalMs, ledger } = taken;
  assert.equal(Object.values(ledger.nodes ?? {}), ['0.0.3', '0.0.4', '0.0.5']);
  for (const ms of [batchIntervalMs, ledger.readIntervalMs, ledger.secondSourceMs]) assert.is(ms, 3_600_000);
});

test.run();
