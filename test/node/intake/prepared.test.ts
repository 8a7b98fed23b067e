import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PreparedDraft } from '../../../node/intake/draft.ts';
import { readPayload } from '../../../node/payload/payload-tables.ts';
import { codeOf, draftOf, type Fate, IntakeRoom, temporaryDirectory, vault } from './intake-room.ts';
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
  await using room = await IntakeRoom.open(directory.path, { now: () => now });
  const prepared = await room.intake.prepareAll([draftOf('s', { n: 1 }), draftOf('s', { n: 2 })]);
  assert.is(room.intake.recorded, 0);
  assert.equal(await requireWholeStore(room.store), []);
  await room.intake.submit(draftOf('s', { n: 3 }));
  now += HOUR_MS;
  const built = await room.intake.recordAll(noting(prepared));
  assert.equal(
    built.map(({ record }) => [record.id, record.payloadHash, record.seq, record.sourceSeq, record.submittedAt]),
    prepared.map(({ id, payloadHash }, i) => [id, payloadHash, i + 2, i + 2, new Date(START + HOUR_MS).toISOString()]),
  );
  const noted = await room.store.get('noted/it');
  assert.is(Buffer.from(noted ?? []).toString(), `2 ${new Date(START + HOUR_MS).toISOString()}`);
  for (const { record } of built) {
    const payload = await readPayload(room.store, vault, record.id, record.seq);
    assert.match(payload === 'erased' ? '' : payload.text, /"sourceId":"s"/);
  }
  assert.is((await requireWholeStore(room.store)).length, 3);
});

test('a refused write records nothing of it, and says nothing of it; it can be recorded again', async () => {
  await using directory = await temporaryDirectory();
  const fates: Fate[] = ['refused'];
  await using room = await IntakeRoom.open(directory.path, { fate: () => fates.shift() ?? 'kept' });
  const prepared = noting(await room.intake.prepareAll([draftOf('s')]));
  assert.is(await codeOf(room.intake.recordAll(prepared)), 'store-failed');
  assert.is(await room.store.get('noted/it'), undefined);
  const [built] = await room.intake.recordAll(prepared);
  assert.equal([built?.record.seq, built?.record.id], [1, prepared[0]?.id]);
  assert.ok(await room.store.get('noted/it'));
});

test('of a draft that is prepared, its texts are not held: only what its place is given by', async () => {
  await using directory = await temporaryDirectory();
  await using room = await IntakeRoom.open(directory.path);
  const [prepared] = await room.intake.prepareAll([{ ...draftOf('s'), duplicateKey: 'k' }]);
  assert.equal(Object.keys(prepared?.draft ?? {}).sort(), ['account', 'duplicateKey', 'kind', 'sourceId']);
});

test('many that were prepared together are one group', async () => {
  await using directory = await temporaryDirectory();
  await using room = await IntakeRoom.open(directory.path);
  const drafts = Array.from({ length: MANY }, (_, n) => draftOf(`s${n % 7}`, { n }));
  await room.intake.recordAll(await room.intake.prepareAll(drafts));
  assert.equal(
    room.committed.map(({ group }) => group.size),
    [MANY],
  );
  await requireWholeStore(room.store);
});

test('where no record is taken now, it is told before anything is asked for', async () => {
  await using directory = await temporaryDirectory();
  await using room = await IntakeRoom.open(directory.path);
  room.intake.requireRoom(1);
  assert.throws(() => room.intake.requireRoom(1_000_000), /waiting to be signed/);
  const prepared = await room.intake.prepareAll([draftOf('s')]);
  room.intake.halt();
  assert.throws(() => room.intake.requireRoom(1), /signs nothing/);
  assert.is(await codeOf(room.intake.recordAll(prepared)), 'halted');
});

test.run();
