import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Draft, type DraftTexts, sealDraft } from '../../../node/intake/draft.ts';
import { DraftPacker, packSealed, unpackDrafts, unpackSealed } from '../../../node/intake/packed-drafts.ts';
import { MIN_THREAD_RECORDS, PreparingThreads } from '../../../node/intake/preparing-threads.ts';
import { readPayload } from '../../../node/records/payload/payload-tables.ts';
import { newRecordId } from '../../../node/records/record-id.ts';
import { decisionTexts } from '../../../protocol/payload/commitment.ts';
import { fc } from '../../fixtures/properties.ts';
import {
  cipher,
  codeOf,
  draftOf,
  type Fate,
  IntakeFixture,
  NODE,
  PAYLOAD_KEY,
  temporaryDirectory,
} from './intake-fixture.ts';
import { requireWholeStore } from './stored-records.ts';

const FALTERING = new URL('./faltering-worker.ts', import.meta.url);
const START = Date.UTC(2026, 10, 21, 12);
const GROUP = 40;
const MANY = 900;

const texts = fc.record({
  salt: fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 }), { nil: undefined }),
  payload: fc.string({ unit: 'grapheme', maxLength: 300 }),
  compressPayload: fc.constantFrom(undefined, true),
  decision: fc.option(
    fc.jsonValue().map((input) => decisionTexts({ input: canonicalInput(input), output: 'ja', note: '\u{feff}' })),
    { nil: undefined },
  ),
});

function canonicalInput(value: unknown): string {
  return JSON.stringify(value).toWellFormed();
}

type Given = { readonly [Name in 'compressPayload' | 'decision' | 'payload' | 'salt']: Draft[Name] | undefined };

function textsOf({ salt, payload, decision, compressPayload }: Partial<Given>): DraftTexts {
  const id = newRecordId(NODE, START);
  return {
    id,
    payload: payload ?? '',
    ...(salt && { salt }),
    ...(decision && { decision }),
    ...(compressPayload && { compressPayload }),
  };
}

function plainOf({ id, salt, payload, decision, compressPayload }: DraftTexts): unknown {
  return [id, salt && Buffer.from(salt).toString('hex'), payload, decision, compressPayload];
}

function threadsOf(threads: number, script?: URL): PreparingThreads {
  return new PreparingThreads({ threads, payloadKey: PAYLOAD_KEY, ...(script && { script }) });
}

async function withFixture(
  threads: PreparingThreads,
  use: (fixture: IntakeFixture, path: string) => Promise<void>,
  fate: () => Fate = () => 'kept',
): Promise<void> {
  await using directory = await temporaryDirectory();
  await using _threads = threads;
  await using fixture = await IntakeFixture.open(directory.path, { threads, fate });
  await use(fixture, directory.path);
}

/** Drafts of one group, whose salts are given: then nothing of their records but the id is left to chance. */
function salted(count: number, word = 'salted'): readonly Draft[] {
  const salt = (i: number) => new Uint8Array(32).fill(i + 1);
  return Array.from({ length: count }, (_, i) => draftOf(`s${i % 5}`, { word, i, output: { i } }, { salt: salt(i) }));
}

test('a thread commits to and encrypts the same as this one, whatever the texts', async () => {
  await using threads = threadsOf(2);
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 20 }), async (drafts) => {
      const named = drafts.map(textsOf);
      const sealed = await threads.seal(named);
      assert.is(sealed.length, named.length);
      for (const [i, draft] of named.entries()) {
        const there = sealed[i];
        if (there === undefined) throw new RangeError('one is missing');
        const { salt, text } = cipher.open(draft.id, there.sealed);
        assert.is(text, draft.payload);
        const here = sealDraft({ ...draft, salt }, cipher);
        assert.equal([there.payloadHash, there.hashes], [here.payloadHash, here.hashes]);
        assert.is(there.sealed.seed[0], here.sealed.seed[0]);
        if (draft.salt !== undefined) assert.equal(Buffer.from(salt), Buffer.from(draft.salt));
      }
    }),
    { numRuns: 30 },
  );
});

test('what is packed is unpacked as it was, and a buffer of another number is refused', () => {
  const drafts = salted(3).map(textsOf);
  const packer = new DraftPacker();
  packer.add(drafts);
  const unpacked = [...unpackDrafts(packer.pack())];
  assert.equal(unpacked.map(plainOf), drafts.map(plainOf));
  const sealed = packSealed(drafts.map((draft) => sealDraft(draft, cipher)));
  assert.throws(() => unpackSealed(sealed, 2), /another number/);
  assert.is(unpackSealed(sealed, 3).length, 3);
});

test('records prepared in threads are those that are prepared in place, in the same order', async () => {
  const made: unknown[] = [];
  for (const threads of [undefined, threadsOf(1), threadsOf(2)]) {
    await using directory = await temporaryDirectory();
    await using _threads = threads;
    await using fixture = await IntakeFixture.open(directory.path, { ...(threads && { threads }) });
    const { intake, store } = fixture;
    const groups = Array.from({ length: 12 }, (_, i) => salted(1 + ((i * 37) % 120), `group ${i}`));
    const built = (await Promise.all(groups.map((group) => intake.submitAll(group)))).flat();
    made.push(
      built.map(({ record: { claims, payloadHash, seq, sourceId, sourceSeq } }) => [
        claims,
        payloadHash,
        seq,
        sourceId,
        sourceSeq,
      ]),
    );
    assert.is((await requireWholeStore(store)).length, built.length);
    for (const [i, { record }] of built.entries()) {
      const payload = await readPayload(store, cipher, record.id, record.seq);
      assert.is(payload === 'erased' ? '' : payload.text, groups.flat()[i]?.payload);
    }
  }
  const [inPlace, ...inThreads] = made;
  for (const each of inThreads) assert.equal(each, inPlace);
});

test('more records than a group holds are prepared in threads too, and recorded together', () =>
  withFixture(threadsOf(2), async ({ intake, store }) => {
    const built = await intake.submitAll(salted(200).flatMap((draft) => Array.from({ length: 4 }, () => draft)));
    assert.equal(
      built.map(({ record }) => record.seq),
      built.map((_, i) => i + 1),
    );
    assert.is((await requireWholeStore(store)).length, 800);
  }));

test('a thread that ends fails its group alone, and another takes its place', () =>
  withFixture(threadsOf(1, FALTERING), async ({ intake, store }) => {
    for (const word of ['throw in it', 'end in it']) {
      const failing = Array.from({ length: GROUP }, (_, i) => codeOf(intake.submit(draftOf('s', { word, i }))));
      assert.equal([...new Set(await Promise.all(failing))], ['preparing-failed']);
      assert.is(await codeOf(intake.submitAll(salted(GROUP))), 'none');
    }
    const large = Array.from({ length: MANY }, () => draftOf('s', { word: 'end in it' }));
    assert.is(await codeOf(intake.submitAll(large)), 'preparing-failed');
    assert.is(await codeOf(intake.submitAll(salted(GROUP))), 'none');
    assert.is((await requireWholeStore(store)).length, 3 * GROUP);
  }));

for (const [what, bad] of [
  ['what cannot be prepared', draftOf('s', {}, { payload: 'lone \ud800 surrogate' })],
  ['a record that no member could read', draftOf('s', {}, { account: 'a'.repeat(65) })],
] as const) {
  test(`${what} is refused as in place, and keeps nobody else from the group`, async () => {
    const drafts = Array.from({ length: GROUP }, (_, i) => [draftOf('s', { i }), i === 7 ? bad : draftOf('s', { i })]);
    const outcomes: unknown[] = [];
    for (const threads of [undefined, threadsOf(1)]) {
      await using directory = await temporaryDirectory();
      await using _threads = threads;
      await using fixture = await IntakeFixture.open(directory.path, { ...(threads && { threads }) });
      outcomes.push(
        await Promise.all(drafts.map((pair) => fixture.intake.submitAll(pair).then(() => 'recorded', String))),
      );
      assert.is((await requireWholeStore(fixture.store)).length, 2 * (GROUP - 1));
    }
    assert.equal(outcomes[1], outcomes[0]);
  });
}

test('a write that the disk refuses fails its group, and the groups prepared after it take its places', () => {
  const fates: Fate[] = ['kept', 'refused'];
  return withFixture(
    threadsOf(2),
    async ({ intake, store }) => {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, i) => codeOf(intake.submitAll(salted(200, `group ${i}`)))),
      );
      assert.is(outcomes.filter((code) => code === 'store-failed').length, 1);
      assert.is((await requireWholeStore(store)).length, 7 * 200);
    },
    () => fates.shift() ?? 'kept',
  );
});

test('ended under load, it records all that waits', async () => {
  await using directory = await temporaryDirectory();
  const threads = threadsOf(2);
  const fixture = await IntakeFixture.open(directory.path, { threads });
  const outcomes = Array.from({ length: MANY }, (_, i) => codeOf(fixture.intake.submit(draftOf(`s${i % 3}`, { i }))));
  await fixture.intake[Symbol.asyncDispose]();
  assert.equal(new Set(await Promise.all(outcomes)), new Set(['none']));
  assert.is((await requireWholeStore(fixture.store)).length, MANY);
  assert.is(await codeOf(fixture.intake.submit(draftOf('s'))), 'stopped');
  await threads[Symbol.asyncDispose]();
  await fixture.store[Symbol.asyncDispose]();
});

test('a halt leaves nothing of the groups under preparation to be signed', () =>
  withFixture(threadsOf(2), async ({ intake }) => {
    await intake.submitAll(salted(GROUP));
    const outcomes = Array.from({ length: MANY }, (_, i) => codeOf(intake.submit(draftOf('s', { i }))));
    // The first group is cut and handed to a thread in the turn after this one.
    await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
    intake.halt();
    assert.equal(new Set(await Promise.all(outcomes)), new Set(['halted']));
    assert.is(intake.recorded, GROUP);
  }));

test('a group of few records is prepared in place: no thread is started for it', async () => {
  const never = new URL('./no-such-worker.ts', import.meta.url);
  await withFixture(threadsOf(1, never), async ({ intake }) => {
    assert.is(await codeOf(intake.submitAll(salted(MIN_THREAD_RECORDS - 1))), 'none');
    assert.is(await codeOf(intake.submitAll(salted(MIN_THREAD_RECORDS))), 'preparing-failed');
  });
});

test.run();
