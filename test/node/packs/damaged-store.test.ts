import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRecord } from '../../../node/records/record-reader.ts';
import { bodyTable } from '../../../node/records/record-tables.ts';
import { recordId } from '../../../protocol/ids.ts';
import { PACK_FILES } from '../../../protocol/pack/manifest.ts';
import { askedPack, filesOf, judgedPack, packFile } from '../../fixtures/made-pack.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';

const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 200 } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

test('a record that the store has lost is named as a gap, and a verifier finds that it is missing', async () => {
  const from = new Date(Date.now() - 60_000).toISOString();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await node.attest({ case: i }, { sourceId: 'loans' }));
  await node.seal();
  const last = ids.at(-1) ?? '';
  await until(
    'the last to be confirmed',
    async () => (await node.get(`/v1/status/${last}`)).body.status === 'confirmed',
  );
  const { store } = node.context;
  const seq = (await readRecord(store, recordId(ids[2] ?? '')))?.record.seq ?? 0;
  await store.write([bodyTable.put(['eu', seq], 'nothing\nof it')]);
  const to = new Date(Date.now() + 1_000).toISOString();
  const pack = await askedPack(node, { sources: ['loans'], from, to });
  assert.is(pack.state, 'ready', JSON.stringify(pack));
  const bytes = await packFile(node, String(pack.packId));
  const { word, records, problems } = await judgedPack(node, bytes);
  assert.equal([word, records, problems.map(({ code }) => code)], ['sequence-broken', 4, ['sequence-broken']]);
  const page = (await filesOf(bytes)).get(PACK_FILES.page) ?? '';
  assert.match(page, '2 places do not follow the one before, or could not be read');
  assert.match(page, 'it is not in the store of the node that made the pack as it was signed');
});

test.run();
