import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { timestampOf } from '../../../protocol/time.ts';
import { askedPack, judgedPack, packFile } from '../../fixtures/made-pack.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';

const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'jp'],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: 200 },
});
const eu = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

async function confirmed(sourceId: string): Promise<string> {
  const id = await eu.attest({ of: sourceId }, { sourceId });
  await eu.seal();
  await until(`${id} to be confirmed`, async () => (await eu.get(`/v1/status/${id}`)).body.status === 'confirmed');
  return id;
}

test('a pack is made also as of a moment whose last record fell, by what is confirmed before it', async () => {
  const from = timestampOf(Date.now());
  const kept = await confirmed('kept');
  const since = timestampOf(Date.now());
  const fallen = await confirmed('fallen');
  const asOf = timestampOf(Date.now());
  const { ownKeys } = eu.context;
  await ownKeys.revoke(ownKeys.keyId, since, 'stolen');
  await until('the revocation to be in force', async () => {
    return (await eu.get(`/v1/verify/${fallen}`)).body.verified === false;
  });
  assert.is((await eu.get(`/v1/verify/${kept}`)).body.verified, true);
  const pack = await askedPack(eu, { sources: ['kept'], from, to: since, asOf });
  assert.is(pack.state, 'ready');
  const { word, words } = await judgedPack(eu, await packFile(eu, String(pack.packId)));
  assert.equal([word, words], ['verified', { verified: 1 }]);
});

test.run();
