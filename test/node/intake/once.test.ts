import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import { IDEMPOTENCY_MS } from '../../../node/intake/once-guard.ts';
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

test('an idempotency key answers with its first record for a day', async () => {
  await using directory = await temporaryDirectory();
  let now = Date.parse('2026-06-01T00:00:00Z');
  await using room = await IntakeRoom.open(directory.path, { now: () => now });
  const keyed = { ...twin, idempotency: { key: 'k', request: 'r' } };
  const { record } = await room.intake.submit(keyed);
  const again = await refusalOf(room.intake.submit(keyed));
  assert.equal([again.code, again.existing], ['replayed', record.id]);
  const other = { ...draftOf('s'), idempotency: { key: 'k', request: 'another' } };
  assert.is(await codeOf(room.intake.submit(other)), 'idempotency-conflict');
  assert.is(await codeOf(room.intake.submit({ ...other, account: 'other' })), 'none');
  now += IDEMPOTENCY_MS;
  assert.is(await codeOf(room.intake.submit(keyed)), 'duplicate');
  assert.is(await codeOf(room.intake.submit(other)), 'none');
  await requireWholeStore(room.store);
});

test('a refused request leaves nothing behind that answers later ones', async () => {
  await using directory = await temporaryDirectory();
  const fates: Fate[] = ['refused', 'refused'];
  await using room = await IntakeRoom.open(directory.path, { fate: () => fates.shift() ?? 'kept' });
  const keyed = { ...twin, idempotency: { key: 'k', request: 'r' } };
  assert.is(await codeOf(room.intake.submit(keyed)), 'store-failed');
  assert.is(await codeOf(room.intake.submit(keyed)), 'store-failed');
  assert.is(await codeOf(room.intake.submit({ ...keyed, idempotency: { key: 'k', request: 'other' } })), 'none');
});

test.run();
