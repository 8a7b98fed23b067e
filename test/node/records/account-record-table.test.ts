import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { refusalIds, versionIds } from '../../../node/records/account-record-table.ts';
import { projectedRows } from '../../../node/records/record-tables.ts';
import { RecordChain, type RecordDraft } from '../../fixtures/federation-record.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';

const test = suite('records about accounts');

const [EU, US] = [nodeId('eu'), nodeId('us')];
const ADA = 'acc_eu_ada';

test('versions are found the newest first, of the node that is asked for alone; refusals oldest first', async () => {
  const store = new MemoryRows();
  const [eu, us] = [new RecordChain('ada', EU), new RecordChain('ada', US)];
  const add = async (chain: RecordChain, draft: RecordDraft) => {
    const { record } = chain.append(draft, timestampOf(0));
    await store.write(projectedRows(record));
    return record.id;
  };
  const first = await add(eu, { kind: 'account', account: ADA });
  await add(eu, { kind: 'account', account: 'acc_eu_bob' });
  await add(eu, { kind: 'decision', account: ADA });
  await add(us, { kind: 'account', account: ADA });
  await add(us, { kind: 'account', account: 'acc_eu_a/da' });
  const second = await add(eu, { kind: 'account', account: ADA });
  const refused = [
    await add(us, { kind: 'account_key_refused', account: ADA }),
    await add(us, { kind: 'account_key_refused', account: ADA }),
  ];

  assert.equal(await Array.fromAsync(versionIds(store, ADA, EU)), [second, first]);
  assert.equal(await refusalIds(store, ADA, US, 10), refused);
  assert.equal(await refusalIds(store, ADA, US, 1), refused.slice(0, 1));
  assert.equal(await refusalIds(store, ADA, EU, 10), []);
  assert.is(store.all().length, 6);
});

test.run();
