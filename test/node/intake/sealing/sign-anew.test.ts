import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { groupTable } from '../../../../node/records/record-tables.ts';
import { readBatch, readHead } from '../../../../node/records/batch-tables.ts';
import { groupStatement } from '../../../../protocol/statement/group.ts';
import { NODE, signer, temporaryDirectory } from '../intake-fixture.ts';
import { AnewFixture, other } from './anew-fixture.ts';
import { SealingFixture } from './sealing-fixture.ts';

/** A home whose first key sealed batches of two records. */
async function sealed(directory: string, batches: number): Promise<void> {
  await using fixture = await SealingFixture.open(directory);
  for (let i = 0; i < batches; i++) {
    await fixture.record(2);
    await fixture.sealer.seal();
  }
}

test('what a revoked key signed is not signed anew before the start is over', async () => {
  await using directory = await temporaryDirectory();
  await sealed(directory.path, 1);
  await using fixture = await AnewFixture.open(directory.path);
  await fixture.sealer.signAnew();
  assert.equal([fixture.steps, (await readHead(fixture.store, NODE))?.envelope.keyId], [[], signer.keyId]);
  fixture.sealer.start();
  await fixture.sealer.signAnew();
  assert.equal(fixture.steps, ['withdraw 1', 'signed 1', 'resume']);
  assert.is((await readHead(fixture.store, NODE))?.envelope.keyId, other.keyId);
});

test('what the log decides while it is looked at stays as it was signed: decided and revoked are of one state', async () => {
  await using directory = await temporaryDirectory();
  await sealed(directory.path, 2);
  const isRevoked = (keyId: string) => keyId === signer.keyId;
  let looks = 0;
  // At the second look the log has decided the first batch, by the key that it revoked after that.
  const standing = () => (looks++ < 2 ? { decided: 0, isRevoked: () => false } : { decided: 1, isRevoked });
  await using fixture = await AnewFixture.open(directory.path, { standing });
  fixture.sealer.start();
  await fixture.sealer.signAnew();
  assert.equal(fixture.steps, ['resume']);
  await fixture.sealer.signAnew();
  const keys = [1, 2].map(async (batch) => (await readBatch(fixture.store, NODE, batch))?.envelope.keyId);
  assert.equal(await Promise.all(keys), [signer.keyId, other.keyId]);
});

test('records that a key which was replaced signed, and nothing sealed, have receipts by the new key at once', async () => {
  await using directory = await temporaryDirectory();
  await sealed(directory.path, 1);
  {
    await using fixture = await SealingFixture.open(directory.path);
    for (let i = 0; i < 3; i++) await fixture.record(1);
  }
  await using fixture = await AnewFixture.open(directory.path, {
    standing: () => ({ decided: 0, isRevoked: () => false }),
  });
  fixture.sealer.start();
  await fixture.sealer.signAnew();
  const groups = await Array.fromAsync(groupTable.under(fixture.store, [NODE]));
  const keys = groups.map(([, { statement }]) => groupStatement.parse(statement).keyId);
  assert.equal(keys, [signer.keyId, other.keyId, other.keyId, other.keyId]);
  assert.equal(fixture.steps, ['resume']);
});

test.run();
