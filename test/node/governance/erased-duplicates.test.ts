import { hash, randomBytes } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { duplicateTable } from '../../../node/intake/once-guard.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { filesHolding } from '../../fixtures/store-files.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { accountOf } from '../../fixtures/test-node.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

/** Tables around those of erasures, into which rows are put. */
const TABLES = ['account', 'body', 'duplicate/a', 'group', 'link', 'payload', 'record', 'tile'];
const [FIRST, LAST] = ['a/none', 'zz/none'];

async function fill(mebibytes: number): Promise<void> {
  const { store } = node.context;
  for (let write = 0; write < mebibytes * 16; write++) {
    const table = TABLES[write % TABLES.length];
    const rows = Array.from({ length: 16 }, () => `${table}/${randomBytes(8).toString('hex')}`);
    await store.write(rows.map((key) => ({ type: 'put', key, value: randomBytes(4096) })));
  }
}

test('the hash that refuses a duplicate, by which a payload is guessed, is in no file once the payload is erased', async () => {
  const { store } = node.context;
  const body = { sourceId: 'guess', data: { passport: 'C01X00T47' } };
  const { attestationId } = (await node.post('/v1/attest', body)).body;
  const key = hash('sha256', canonicalize(body), 'hex');
  assert.is(await duplicateTable.get(store, accountOf('unmetered'), key), attestationId);
  // A row as small before it: else a file might begin with it, and be named by it.
  await store.write([duplicateTable.put([accountOf('unmetered'), '0'], String(attestationId))]);
  // LevelDB makes files of 2 MiB: in a store of some age the row stands in another one than the key of the payload, and
  // what is newer stands in files above it.
  await fill(14);
  await store.purge([LAST]);
  await fill(2);
  await store.purge([FIRST, LAST]);
  await fill(9);
  await store.purge([LAST]);
  const digits = Buffer.from(key.slice(20));
  assert.ok((await filesHolding(store.directory, digits)).length > 0);
  const why = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };
  const { status, text } = await node.post('/v1/erasures', { ...why, attestationIds: [attestationId ?? ''] });
  assert.is(status, 200, text);
  await node.context.purges.look();
  assert.equal(await filesHolding(store.directory, digits), []);
});

test.run();
