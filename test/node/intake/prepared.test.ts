import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PreparedDraft } from '../../../node/intake/draft.ts';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import { readPayload } from '../../../node/records/payload/payload-tables.ts';
import { until } from '../../fixtures/until.ts';
import { cipher, codeOf, draftOf, type Fate, IntakeFixture, signer, temporaryDirectory } from './intake-fixture.ts';
import { requireWholeStore } from './stored-records.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 21, 12);
const MANY = 600;

/** Writes down, in the group's own write, where the group stands. */
function noting(prepared: readonly PreparedDraft[]): readonly PreparedDraft[] {
  return prepared.map((draft, place) => {
    if (place < prepared.length - 1) return draft;
    const inGroup: PreparedDraft['inGroup'] = ({ first, signedAt }) => [
      { type: 'put', key: 'noted/it', value: Buffer.from(`${first} ${signedAt}`) },
    ];
    return { ...draft, inGroup };
  });
}

test('what is prepared takes no place and no time; both are given when it is recorded, however much later', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
  const prepared = await fixture.intake.prepareAll([draftOf('s', { n: 1 }), draftOf('s', { n: 2 })]);
  assert.is(fixture.intake.recorded, 0);
  assert.equal(await requireWholeStore(fixture.store), []);
  await fixture.intake.submit(draftOf('s', { n: 3 }));
  now += HOUR_MS;
  const built = await fixture.intake.recordAll(noting(prepared));
  assert.equal(
    built.map(({ record }) => [record.id, record.payloadHash, record.seq, record.sourceSeq, record.submittedAt]),
    prepared.map(({ id, payloadHash }, i) => [id, payloadHash, i + 2, i + 2, new Date(START + HOUR_MS).toISOString()]),
  );
  const noted = await fixture.store.get('noted/it');
  assert.is(Buffer.from(noted ?? []).toString(), `2 ${new Date(START + HOUR_MS).toISOString()}`);
  for (const { record } of built) {
    const payload = await readPayload(fixture.store, cipher, record.id, record.seq);
    assert.match(payload === 'erased' ? '' : payload.text, /"sourceId":"s"/);
  }
  assert.is((await requireWholeStore(fixture.store)).length, 3);
});

test('a refused write records nothing of it, and says nothing of it; it can be recorded again', async () => {
  await using directory = await temporaryDirectory();
  const fates: Fate[] = ['refused'];
  await using fixture = await IntakeFixture.open(directory.path, { fate: () => fates.shift() ?? 'kept' });
  const prepared = noting(await fixture.intake.prepareAll([draftOf('s')]));
  assert.is(await codeOf(fixture.intake.recordAll(prepared)), 'store-failed');
  assert.is(await fixture.store.get('noted/it'), undefined);
  const [built] = await fixture.intake.recordAll(prepared);
  assert.equal([built?.record.seq, built?.record.id], [1, prepared[0]?.id]);
  assert.ok(await fixture.store.get('noted/it'));
});

test('of a draft that is prepared, its texts are not held: only what its place is given by', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const [prepared] = await fixture.intake.prepareAll([{ ...draftOf('s'), duplicateKey: 'k' }]);
  assert.equal(Object.keys(prepared?.draft ?? {}).sort(), ['account', 'duplicateKey', 'kind', 'sourceId']);
});

test('many that were prepared together are one group', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const drafts = Array.from({ length: MANY }, (_, n) => draftOf(`s${n % 7}`, { n }));
  await fixture.intake.recordAll(await fixture.intake.prepareAll(drafts));
  assert.equal(
    fixture.committed.map(({ group }) => group.size),
    [MANY],
  );
  await requireWholeStore(fixture.store);
});

test('where no record is taken now, it is told before anything is asked for', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  fixture.intake.requireCapacity(1);
  assert.throws(() => fixture.intake.requireCapacity(1_000_000), /waiting to be signed/);
  const prepared = await fixture.intake.prepareAll([draftOf('s')]);
  fixture.intake.halt();
  assert.throws(() => fixture.intake.requireCapacity(1), /signs nothing/);
  assert.is(await codeOf(fixture.intake.recordAll(prepared)), 'halted');
});

test('where no record is given a time now, it is told before anything is asked for, and no time is given by asking', async () => {
  await using directory = await temporaryDirectory();
  let isOff = false;
  const asked: [first: number, last: number][] = [];
  const timeOf = (first: number, last: number): number => {
    if (isOff) throw new IntakeError('clock-off', 'the clock is off');
    asked.push([first, last]);
    return START;
  };
  await using fixture = await IntakeFixture.open(directory.path, { timeOf });
  fixture.intake.requireCapacity(1);
  isOff = true;
  assert.throws(() => fixture.intake.requireCapacity(1), /the clock is off/);
  isOff = false;
  await fixture.intake.submit(draftOf('s'));
  fixture.intake.requireCapacity(1);
  assert.equal(asked, [
    [1, 0],
    [1, 0],
    [2, START],
  ]);
});

test('while the signer fails, it is told before anything is asked for, until it signs again', async () => {
  await using directory = await temporaryDirectory();
  let broken = true;
  let tries = 0;
  await using fixture = await IntakeFixture.open(directory.path, {
    signer: {
      ...signer,
      sign(message, context) {
        tries++;
        return broken ? Promise.reject(new Error('no entropy')) : signer.sign(message, context);
      },
    },
  });
  fixture.intake.requireCapacity(1);
  assert.is(await codeOf(fixture.intake.submit(draftOf('s'))), 'signing-failed');
  for (let i = 0; i < 5; i++) assert.throws(() => fixture.intake.requireCapacity(1), /the signer fails/);
  assert.is(tries, 2, 'whether it signs again is looked at once at a time');
  await until('it to be looked at again', () => {
    assert.throws(() => fixture.intake.requireCapacity(1), /the signer fails/);
    return tries > 2;
  });
  broken = false;
  await until('the signer to be tried', () => {
    try {
      fixture.intake.requireCapacity(1);
      return true;
    } catch {
      return false;
    }
  });
  assert.equal([fixture.intake.signerFailing, fixture.intake.recorded], [false, 0]);
  await fixture.intake.submit(draftOf('s'));
  await requireWholeStore(fixture.store);
});

test.run();
