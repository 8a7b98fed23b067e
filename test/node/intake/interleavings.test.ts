import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fc } from '../../fixtures/properties.ts';
import { codeOf, draftOf, type Fate, IntakeFixture, signer, temporaryDirectory } from './intake-fixture.ts';
import { requireWholeStore } from './stored-records.ts';

const RUNS = 60;

/** What callers, disk and signer do, in milliseconds and records; a restart ends a part. */
const part = fc.record({
  submissions: fc.array(
    fc.record({
      waitMs: fc.integer({ min: 0, max: 3 }),
      source: fc.constantFrom('a', 'b', 'c'),
      records: fc.constantFrom(1, 1, 1, 2, 5),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  writes: fc.array(
    fc.record({
      waitMs: fc.integer({ min: 0, max: 3 }),
      fate: fc.constantFrom<Fate>('kept', 'kept', 'kept', 'refused'),
    }),
    { maxLength: 12 },
  ),
  signatures: fc.array(fc.constantFrom(true, true, true, true, false), { maxLength: 12 }),
});

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

test('whatever fails when, what was acknowledged is exactly what is stored, and every chain holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 2 }), async (parts) => {
      await using directory = await temporaryDirectory();
      const acknowledged: string[] = [];
      for (const { submissions, writes, signatures } of parts) {
        const disk = [...writes];
        const pens = [...signatures];
        await using fixture = await IntakeFixture.open(directory.path, {
          async fate() {
            const next = disk.shift();
            await wait(next?.waitMs ?? 0);
            return next?.fate ?? 'kept';
          },
          signer: {
            ...signer,
            sign: (message, context) =>
              (pens.shift() ?? true) ? signer.sign(message, context) : Promise.reject(new Error('no entropy')),
          },
        });
        const outcomes: Promise<unknown>[] = [];
        for (const { waitMs, source, records } of submissions) {
          const drafts = Array.from({ length: records }, (_, i) => draftOf(source, { i }));
          const submitted = fixture.intake.submitAll(drafts);
          outcomes.push(codeOf(submitted.then((built) => acknowledged.push(...built.map(({ record }) => record.id)))));
          if (waitMs > 0) await wait(waitMs);
        }
        await Promise.all(outcomes);
        const stored = await requireWholeStore(fixture.store);
        assert.equal(stored.map(({ id }) => id).toSorted(), acknowledged.toSorted());
      }
    }),
    { numRuns: RUNS },
  );
});

test.run();
