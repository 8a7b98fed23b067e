import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_GROUP_RECORDS, MAX_QUEUED_BYTES, MAX_QUEUED_RECORDS } from '../../../node/intake/groups.ts';
import { until } from '../../fixtures/until.ts';
import {
  codeOf,
  countingSigner,
  draftOf,
  type Fate,
  IntakeFixture,
  signer,
  temporaryDirectory,
} from './intake-fixture.ts';
import { requireWholeStore } from './stored-records.ts';

test('many callers at once: order, counters and chains are gapless, and groups are shared', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const built = await Promise.all(
    Array.from({ length: 700 }, (_, i) => fixture.intake.submit(draftOf(`source ${i % 7}`, { i }))),
  );
  const stored = await requireWholeStore(fixture.store);
  assert.equal(
    stored.map(({ id }) => id),
    built.map(({ record }) => record.id),
    'who comes first is recorded first',
  );
  assert.ok(fixture.committed.length <= 10, `${fixture.committed.length} groups`);
  assert.ok(fixture.committed.every(({ records }) => records.length <= MAX_GROUP_RECORDS));
  assert.is(fixture.intake.recorded, 700);
  assert.is(fixture.intake.queued, 0);
});

test('intake ends only once what it has taken is signed and on the disk', async () => {
  await using directory = await temporaryDirectory();
  const signing = Promise.withResolvers<void>();
  let isSigning = false;
  await using fixture = await IntakeFixture.open(directory.path, {
    signer: {
      ...signer,
      async sign(message, context) {
        isSigning = true;
        await signing.promise;
        return signer.sign(message, context);
      },
    },
  });
  const answered = fixture.intake.submit(draftOf('s'));
  await until('the record taken to be signed', () => isSigning);
  let isOver = false;
  const ending = fixture.intake[Symbol.asyncDispose]().then(() => {
    isOver = true;
  });
  for (let i = 0; i < 5; i++) await turn();
  assert.not(isOver);
  signing.resolve();
  await Promise.all([answered, ending]);
  assert.is((await requireWholeStore(fixture.store)).length, 1);
});

test('a group that is on the disk is let go of, however many follow it', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  await fixture.intake.submit(draftOf('first'));
  const heads = new WeakRef(fixture.committed.splice(0)[0]?.heads ?? {});
  for (let i = 0; i < 4; i++) await fixture.intake.submit(draftOf('later', { i }));
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('garbage cannot be collected');
  await until('what the first group moved is forgotten', () => {
    collect();
    return heads.deref() === undefined;
  });
});

test('nobody is answered before the signature and the synced write', async () => {
  await using directory = await temporaryDirectory();
  const events: string[] = [];
  const signing = Promise.withResolvers<void>();
  const writing = Promise.withResolvers<void>();
  let isSigning = false;
  let isWriting = false;
  await using fixture = await IntakeFixture.open(directory.path, {
    signer: {
      ...signer,
      async sign(message, context) {
        isSigning = true;
        await signing.promise;
        events.push('signed');
        return signer.sign(message, context);
      },
    },
    fate: async (): Promise<Fate> => {
      isWriting = true;
      await writing.promise;
      events.push('written');
      return 'kept';
    },
  });
  const answered = fixture.intake.submit(draftOf('s')).then(() => events.push('answered'));
  await until('the record taken to be signed', () => isSigning);
  assert.equal(events, []);
  signing.resolve();
  await until('the record at the disk', () => isWriting);
  assert.equal(events, ['signed']);
  writing.resolve();
  await answered;
  assert.equal(events, ['signed', 'written', 'answered']);
});

test('while one group is written the next is signed, and the one after gathers', async () => {
  await using directory = await temporaryDirectory();
  const gates: (() => void)[] = [];
  const counting = countingSigner();
  await using fixture = await IntakeFixture.open(directory.path, {
    signer: counting,
    fate: () => new Promise((resolve) => gates.push(() => resolve('kept'))),
  });
  const submit = (count: number) => Array.from({ length: count }, () => fixture.intake.submit(draftOf('s')));
  const answers = submit(1);
  await until('the first at the disk', () => gates.length === 1);
  answers.push(...submit(2));
  await until('the second signed', () => counting.signed === 2);
  answers.push(...submit(3), ...submit(4));
  for (let group = 1; group <= 3; group++) {
    await until(`group ${group} at the disk`, () => gates.length === 1);
    gates.shift()?.();
  }
  await Promise.all(answers);
  assert.equal(
    fixture.committed.map(({ records }) => records.length),
    [1, 2, 7],
  );
  await requireWholeStore(fixture.store);
});

test('several drafts of one caller are one group, whatever their number', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const drafts = Array.from({ length: MAX_GROUP_RECORDS + 50 }, (_, i) => draftOf('batch', { i }));
  const [together] = await Promise.all([fixture.intake.submitAll(drafts), fixture.intake.submit(draftOf('other'))]);
  assert.is(together.length, drafts.length);
  const groups = fixture.committed.map(({ group }) => [group.first, group.size]);
  const [first] = together;
  assert.ok(groups.some(([start, size]) => start === first?.record.seq && size === drafts.length));
  assert.equal(
    together.map(({ record }) => record.sourceSeq),
    drafts.map((_, i) => i + 1),
  );
  await requireWholeStore(fixture.store);
});

test('a restart continues the order, the sources and the clock', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await IntakeFixture.open(directory.path, { now: () => Date.parse('2026-06-01T00:00:10Z') });
    await Promise.all(['a', 'b', 'a'].map((source) => fixture.intake.submit(draftOf(source))));
  }
  await using fixture = await IntakeFixture.open(directory.path, { now: () => Date.parse('2026-06-01T00:00:05Z') });
  assert.is(fixture.intake.recorded, 3);
  const { record } = await fixture.intake.submit(draftOf('a'));
  assert.equal([record.seq, record.sourceSeq], [4, 3]);
  assert.is(record.submittedAt, '2026-06-01T00:00:10.000Z', 'the clock was set back; recorded time is not');
  await requireWholeStore(fixture.store);
});

test('what was submitted before the end is answered, what comes after is refused', async () => {
  await using directory = await temporaryDirectory();
  const fixture = await IntakeFixture.open(directory.path);
  const answers = Array.from({ length: 50 }, () => fixture.intake.submit(draftOf('s')));
  const ended = fixture.intake[Symbol.asyncDispose]();
  assert.is(await codeOf(fixture.intake.submit(draftOf('late'))), 'stopped');
  assert.is((await Promise.all(answers)).length, 50);
  await ended;
  assert.is((await requireWholeStore(fixture.store)).length, 50);
  await fixture[Symbol.asyncDispose]();
});

test('the queue is bounded in records, and in bytes', async () => {
  await using directory = await temporaryDirectory();
  const gate = Promise.withResolvers<'refused'>();
  await using fixture = await IntakeFixture.open(directory.path, { fate: () => gate.promise });
  const outcomes = await twoUnderWay(fixture);
  const many = Array.from({ length: MAX_QUEUED_RECORDS }, () => draftOf('s'));
  outcomes.push(codeOf(fixture.intake.submitAll(many)));
  await until('many records in the queue', () => fixture.intake.queued === MAX_QUEUED_RECORDS);
  assert.is(await codeOf(fixture.intake.submit(draftOf('s'))), 'queue-full');
  gate.resolve('refused');
  assert.equal(new Set(await Promise.all(outcomes)), new Set(['store-failed']));
  assert.is(fixture.intake.queued, 0);
});

test('a batch has its places in the queue while it is prepared, before it waits there', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const many = Array.from({ length: MAX_QUEUED_RECORDS }, () => draftOf('s'));
  const first = fixture.intake.submitAll(many);
  for (let i = 0; i < 3; i++) {
    assert.is(fixture.intake.queued, MAX_QUEUED_RECORDS);
    assert.is(await codeOf(fixture.intake.submit(draftOf('s'))), 'queue-full');
  }
  assert.is((await first).length, MAX_QUEUED_RECORDS);
  assert.is(fixture.intake.queued, 0);
});

test('large payloads fill the queue before they fill the memory', async () => {
  await using directory = await temporaryDirectory();
  const gate = Promise.withResolvers<'refused'>();
  await using fixture = await IntakeFixture.open(directory.path, { fate: () => gate.promise });
  const payload = JSON.stringify({ text: 'x'.repeat(4 << 20) });
  const large = draftOf('s', {}, { payload });
  const outcomes = await twoUnderWay(fixture);
  const fitting = Math.ceil(MAX_QUEUED_BYTES / payload.length);
  for (let i = 0; i < fitting + 3; i++) outcomes.push(codeOf(fixture.intake.submit(large)));
  gate.resolve('refused');
  const codes = await Promise.all(outcomes);
  assert.is(codes.filter((code) => code === 'queue-full').length, 3);
});

test('no payload is on the disk in clear', async () => {
  await using directory = await temporaryDirectory();
  const words = ['Jane-Roe-of-Example-Street', 'salary-48213'];
  {
    await using fixture = await IntakeFixture.open(directory.path);
    const [name = '', salary = ''] = words;
    await fixture.intake.submit(draftOf('plain-source', { name, salary }));
  }
  const files = await readdir(join(directory.path, 'store'));
  const bytes = Buffer.concat(await Promise.all(files.map((name) => readFile(join(directory.path, 'store', name)))));
  assert.ok(bytes.includes('plain-source'), 'the record itself is readable');
  for (const word of words) assert.not.ok(bytes.includes(word), word);
});

/**
 * One record at the disk and one signed on top of it, so that what comes next waits. Resolves to what becomes of both.
 */
async function twoUnderWay(fixture: IntakeFixture): Promise<Promise<string>[]> {
  const outcomes: Promise<string>[] = [];
  for (const which of ['first', 'second']) {
    outcomes.push(codeOf(fixture.intake.submit(draftOf('s'))));
    await until(`the ${which} taken`, () => fixture.intake.queued === 0);
  }
  return outcomes;
}

test.run();
