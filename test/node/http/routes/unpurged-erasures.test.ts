import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NOT_PURGED } from '../../../../node/http/routes/erasures.ts';
import { PurgeError } from '../../../../node/store/purge.ts';
import { ErasureAnswerShape } from '../../../../protocol/api/erasures.ts';
import { seedOf } from '../../../fixtures/payload-keys.ts';
import { filesHolding } from '../../../fixtures/store-files.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { shapeCheck } from '../answer-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

test('an erasure whose keys a long read keeps in the files says so, and when it is sent again that they are gone', async () => {
  const { store } = node.context;
  const id = await node.attest({ passport: 'C01X00T47' });
  const seed = (await seedOf(store, id))?.subarray(0, -3);
  assert.ok(seed);
  const why = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };
  const erase = () =>
    node.post('/v1/erasures', { ...why, attestationIds: [id] }, { headers: { 'idempotency-key': 'erase' } });
  // A read that lasts is given up on after half a minute.
  store.purge = () => Promise.reject(new PurgeError('reads from before are not over'));
  const first = await erase();
  assert.is(first.status, 200, first.text);
  shapeCheck(ErasureAnswerShape)(first.body);
  assert.equal([first.body.erasedCount, first.body.warnings], [1, [NOT_PURGED]]);
  assert.is((await node.get(`/v1/verify/${id}`)).body.payloadState, 'erased');
  assert.ok((await filesHolding(store.directory, seed)).length > 0);
  Reflect.deleteProperty(store, 'purge');
  const again = await erase();
  assert.equal(again.body, { ...first.body, warnings: [] });
  assert.equal(await filesHolding(store.directory, seed), []);
});

test.run();
