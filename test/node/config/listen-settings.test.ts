import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { configOf } from '../../../node/config/config.ts';
import type { Environment } from '../../../node/config/environment.ts';
import { ConfigError } from '../../../node/config/read-variable.ts';

const NODE: Environment = {
  NODE_ID: 'eu',
  NODE_HOME: '/home',
  ROSTER: '/roster.json',
  LEDGER_OPERATOR_ID: '0.0.1001',
  LEDGER_OPERATOR_KEY: '11'.repeat(32),
};

const configWith = (variables: Environment) => configOf({ ...NODE, ...variables });

/** What a set of variables is refused with. */
function refusalOf(variables: Environment): string {
  try {
    configWith(variables);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
}

test('metrics are shown on loopback, unless the operator names another place', () => {
  const metricsAt = (text: string) => configWith({ METRICS_LISTEN: text }).metrics;
  assert.equal(configWith({}).metrics, { host: '127.0.0.1', port: 4400 });
  assert.equal(metricsAt('127.0.0.1:4401'), { host: '127.0.0.1', port: 4401 });
  assert.equal(metricsAt('[::1]:0'), { host: '::1', port: 0 });
  assert.equal(metricsAt('metrics.internal:65535'), { host: 'metrics.internal', port: 65_535 });
});

test('what is no place to listen is refused by name', () => {
  for (const text of ['4400', ':4400', 'localhost', 'localhost:', 'localhost:x', 'localhost:65536', '::1:4400', '[::1]', 'a b:1']) {
    assert.match(refusalOf({ METRICS_LISTEN: text }), /^METRICS_LISTEN is not host:port$/, text);
  }
});

test.run();
