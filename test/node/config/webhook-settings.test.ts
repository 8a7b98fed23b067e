import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { configWith, refusalOf } from './settings.ts';

test('webhooks lead to the public network alone, unless the operator says otherwise', () => {
  assert.is(configWith({}).webhookReach, 'public');
  assert.is(configWith({ WEBHOOK_PRIVATE: '0' }).webhookReach, 'public');
  assert.is(configWith({ WEBHOOK_PRIVATE: '1' }).webhookReach, 'private');
});

test('a node in production reaches no private network', () => {
  assert.match(refusalOf({ WEBHOOK_PRIVATE: '1', NODE_ENV: 'production' }), /^WEBHOOK_PRIVATE=1 is for tests/);
  assert.match(refusalOf({ WEBHOOK_PRIVATE: 'yes' }), /^WEBHOOK_PRIVATE/);
});

test.run();
