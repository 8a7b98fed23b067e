import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceIndex } from '../../../../node/records/sources/source-index.ts';
import { sourceKey } from '../../../../node/records/sources/sources.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';
import { BrowserClient } from './browser-client.ts';

const KEY = { key: API_KEYS.enterprise };
const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 100 } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const browser = new BrowserClient(node);
await browser.signIn(KEY.key);

test('the overview draws how long the ledger took for each of the last batches', async () => {
  await node.attest({ n: 1 }, { sourceId: 'whole' }, KEY);
  let batches: unknown[] = [];
  await until('a batch to be named', async () => {
    const { body } = await node.get('/v1/overview', KEY);
    batches = Object(body.anchoring).batches;
    return batches.length > 0;
  });
  const { batch, sealedAt, seconds } = Object(batches.at(-1));
  assert.ok(batch > 0 && seconds >= 0 && seconds < 120, JSON.stringify(batches));
  assert.ok(Date.parse(sealedAt) <= Date.now());
  const { text } = await browser.get('/console');
  assert.match(text, /How long the ledger took for the last batches of this node/);
  assert.match(text, `<data data-field="seconds" value="${seconds}">`);
});

test('a source is drawn with what of it is missing, and without where nothing is', async () => {
  for (let n = 0; n < 5; n++) await node.attest({ n }, { sourceId: 'torn' }, KEY);
  const found = await node.context.accounts.authenticate(KEY.key);
  if (typeof found === 'string') throw new Error(found);
  await node.context.store.write([sourceIndex.del(found.caller.account.id, sourceKey('torn'), 3)]);
  const torn = (await browser.get('/console/sources/torn')).text;
  assert.match(torn, /class="gap"/);
  assert.match(torn, /<data data-field="from" value="3">/);
  assert.match(torn, /3 to 3: missing/);
  assert.not.match(torn, /Nothing is missing/);
  const whole = (await browser.get('/console/sources/whole')).text;
  assert.match(whole, /Nothing is missing of what was checked/);
  assert.not.match(whole, /class="gap"/);
});

test.run();
