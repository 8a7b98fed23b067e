import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { askedOfOther, askedOfOwn } from '../../../node/packs/making/asked-records.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { readRecordTexts } from '../../../node/records/record-reader.ts';
import { openRecord, recordLeaf } from '../../../protocol/chain/record.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import { SourceSequences } from '../../../protocol/pack/source-sequences.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';
import { draftOf, IntakeFixture, NODE, temporaryDirectory } from '../intake/intake-fixture.ts';

const START = Date.UTC(2026, 5, 1);
const STEP_MS = 1_000;
const GROUPS = 40;
/** At which group the clock goes back, and by how many steps. */
const BACK = new Map([
  [12, 9],
  [13, 5],
  [25, 20],
  [33, 2],
]);

let clock = START;
const directory = await temporaryDirectory();
const fixture = await IntakeFixture.open(directory.path, { now: () => clock, timeOf: () => clock });
test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});
for (let group = 0; group < GROUPS; group++) {
  clock += STEP_MS * (1 - (BACK.get(group) ?? 0));
  await fixture.intake.submitAll(
    ['loans', ...(group % 3 === 0 ? ['rare'] : [])].map((source) => draftOf(source, { group })),
  );
}
const { store } = fixture;
const all = await Array.fromAsync(readRecordTexts(store, NODE, 1, 1_000), (texts) => ({
  record: openRecord(nativeSuite, texts),
  leaf: writeSha256(recordLeaf(nativeSuite, texts.head)),
}));

type Terms = readonly [oneEnd: number, otherEnd: number, moment: number, withholds: boolean];

function questionOf([a, b, moment, withholds]: Terms): PackQuestion {
  return {
    account: 'acme',
    sources: ['loans', 'rare'],
    systems: null,
    from: timestampOf(START + Math.min(a, b) * STEP_MS),
    to: timestampOf(START + (Math.max(a, b) + 1) * STEP_MS),
    asOf: timestampOf(START + moment * STEP_MS),
    frameworks: null,
    kinds: null,
    disclosure: false,
    ...(withholds ? { withholdsBefore: true } : {}),
  };
}

const step = fc.integer({ min: -1, max: GROUPS });
const questions = fc.tuple(step, step, step, fc.boolean()).map(questionOf);

test('however often a clock went back, what a pack holds of a node has all of the period, and no verifier misses a record', () =>
  fc.assert(
    fc.asyncProperty(questions, async (question) => {
      const { from, to, asOf } = question;
      const seq = all.findLast(({ record }) => record.submittedAt <= asOf)?.record.seq ?? 0;
      const own = await askedOfOwn(store, question, { node: NODE, seq });
      // The records of any node are found without the index of sources.
      assert.equal((await askedOfOther(store, question, { node: NODE, seq })).seqs, own.seqs);
      const held = new Set(own.seqs);
      const sequences = new SourceSequences(question, [{ node: NODE, seq }]);
      for (const { record, leaf } of all) {
        const isDue = record.submittedAt >= from && record.submittedAt < to && record.submittedAt <= asOf;
        if (isDue) assert.ok(held.has(record.seq));
        if (held.has(record.seq)) assert.equal(sequences.take(record, leaf), []);
      }
      assert.equal(sequences.laterRecords(), []);
    }),
    { numRuns: 200 },
  ));

test.run();
