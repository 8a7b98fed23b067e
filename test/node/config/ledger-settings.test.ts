import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../../node/config/read-variable.ts';
import { configWith } from './settings.ts';

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

test.run();
