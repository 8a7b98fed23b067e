import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import type { BuiltRecord } from '../../../node/intake/groups.ts';
import { codeOf, draftOf, type Fate, IntakeFixture, temporaryDirectory } from './intake-fixture.ts';
import { requireWholeStore } from './stored-records.ts';

const duplicate = draftOf('s', { x: 1 }, { duplicateKey: 'd1' });

async function refusalOf(outcome: Promise<BuiltRecord>): Promise<IntakeError> {
  const error: unknown = await outcome.catch((thrown: unknown) => thrown);
  if (!(error instanceof IntakeError)) throw new Error('it was accepted');
  return error;
}

test('a second identical request is refused and names the first, also after a restart', async () => {
  await using directory = await temporaryDirectory();
  let id = '';
  {
    await using fixture = await IntakeFixture.open(directory.path);
    id = (await fixture.intake.submit(duplicate)).record.id;
    const { code, existing } = await refusalOf(fixture.intake.submit(duplicate));
    assert.equal([code, existing], ['duplicate', id]);
    await fixture.intake.submit(draftOf('s', {}, { duplicateKey: 'd1', account: 'other' }));
  }
  await using fixture = await IntakeFixture.open(directory.path);
  assert.is((await refusalOf(fixture.intake.submit(duplicate))).existing, id);
  assert.is((await requireWholeStore(fixture.store)).length, 2);
});

test('of concurrent twins one is recorded', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(fixture.intake.submit(duplicate))));
  assert.is(codes.filter((code) => code === 'none').length, 1);
  assert.is(codes.filter((code) => code === 'duplicate').length, 19);
  assert.is((await requireWholeStore(fixture.store)).length, 1);
});

test('a twin of a request that failed is recorded', async () => {
  await using directory = await temporaryDirectory();
  const fates: Fate[] = ['refused'];
  await using fixture = await IntakeFixture.open(directory.path, { fate: () => fates.shift() ?? 'kept' });
  const codes = await Promise.all(Array.from({ length: 3 }, () => codeOf(fixture.intake.submit(duplicate))));
  assert.equal(codes, ['store-failed', 'none', 'duplicate']);
  assert.is((await requireWholeStore(fixture.store)).length, 1);
});

test.run();
