import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import type { BuiltRecord } from '../../../node/intake/group-builder.ts';
import { codeOf, draftOf, type Fate, IntakeRoom, temporaryDirectory } from './intake-room.ts';
import { requireWholeStore } from './stored-records.ts';

const twin = draftOf('s', { x: 1 }, { duplicateKey: 'd1' });

async function refusalOf(outcome: Promise<BuiltRecord>): Promise<IntakeError> {
  const error: unknown = await outcome.catch((thrown: unknown) => thrown);
  if (!(error instanceof IntakeError)) throw new Error('it was accepted');
  return error;
}

test('a second identical request is refused and names the first, also after a restart', async () => {
  await using directory = await temporaryDirectory();
  let id = '';
  {
    await using room = await IntakeRoom.open(directory.path);
    id = (await room.intake.submit(twin)).record.id;
    const { code, existing } = await refusalOf(room.intake.submit(twin));
    assert.equal([code, existing], ['duplicate', id]);
    await room.intake.submit(draftOf('s', {}, { duplicateKey: 'd1', account: 'other' }));
  }
  await using room = await IntakeRoom.open(directory.path);
  assert.is((await refusalOf(room.intake.submit(twin))).existing, id);
  assert.is((await requireWholeStore(room.store)).length, 2);
});

test('of concurrent twins one is recorded', async () => {
  await using directory = await temporaryDirectory();
  await using room = await IntakeRoom.open(directory.path);
  const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(room.intake.submit(twin))));
  assert.is(codes.filter((code) => code === 'none').length, 1);
  assert.is(codes.filter((code) => code === 'duplicate').length, 19);
  assert.is((await requireWholeStore(room.store)).length, 1);
});

test('a twin of a request that failed is recorded', async () => {
  await using directory = await temporaryDirectory();
  const fates: Fate[] = ['refused'];
  await using room = await IntakeRoom.open(directory.path, { fate: () => fates.shift() ?? 'kept' });
  const codes = await Promise.all(Array.from({ length: 3 }, () => codeOf(room.intake.submit(twin))));
  assert.equal(codes, ['store-failed', 'none', 'duplicate']);
  assert.is((await requireWholeStore(room.store)).length, 1);
});

test.run();
