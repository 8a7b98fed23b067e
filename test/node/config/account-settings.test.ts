import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../../node/config/read-variable.ts';
import { TIERS } from '../../../protocol/accounts/tier.ts';
import { configWith } from './settings.ts';

test('accounts of other nodes have at most the tier of FOREIGN_TIER here: professional, unless told otherwise', () => {
  assert.is(configWith({}).foreignTier, 'professional');
  for (const tier of TIERS) assert.is(configWith({ FOREIGN_TIER: tier }).foreignTier, tier);
  assert.throws(
    () => configWith({ FOREIGN_TIER: 'highest' }),
    (error: unknown) => error instanceof ConfigError && error.message.includes('FOREIGN_TIER'),
  );
});

test.run();
