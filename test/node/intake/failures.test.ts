import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Draft } from '../../../node/intake/draft.ts';
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
import { until } from '../../fixtures/until.ts';

/** Fates of the writes in order; when they are used up, writes are kept. */
function inOrder(...fates: readonly Fate[]): () => Fate {
  const left = [...fates];
  return () => left.shift() ?? 'kept';
}

test('a refused write refuses every caller of its group, leaves no gap, and the next group is fine', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path, { fate: inOrder('kept', 'refused') });
  await fixture.intake.submit(draftOf('a'));
  const codes = await Promise.all(['a', 'b', 'a'].map((source) => codeOf(fixture.intake.submit(draftOf(source)))));
  assert.equal(codes, ['store-failed', 'store-failed', 'store-failed']);
  assert.is((await requireWholeStore(fixture.store)).length, 1);
  const { record } = await fixture.intake.submit(draftOf('a'));
  assert.equal([record.seq, record.sourceSeq], [2, 2]);
  assert.is((await fixture.intake.submit(draftOf('b'))).record.sourceSeq, 1);
  assert.is((await requireWholeStore(fixture.store)).length, 3);
});

test('a draft that cannot be prepared is refused to its caller alone', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const bad = Object.defineProperty({ ...draftOf('b') }, 'links', {
    get: () => {
      throw new RangeError('cannot be prepared');
    },
  });
  const [first, refused, last] = await Promise.allSettled(
    [draftOf('a'), bad, draftOf('c')].map((draft) => fixture.intake.submit(draft)),
  );
  assert.equal([first?.status, refused?.status, last?.status], ['fulfilled', 'rejected', 'fulfilled']);
  assert.match(String(refused?.status === 'rejected' && refused.reason), /cannot be prepared/);
  const both = [first, last].map((each) => (each?.status === 'fulfilled' ? each.value.record.seq : null));
  assert.equal(both, [1, 2]);
  assert.is(fixture.committed.length, 1);
  const alone = await codeOf(fixture.intake.submitAll([bad]));
  assert.match(alone, /cannot be prepared/);
  assert.is((await fixture.intake.submit(draftOf('a'))).record.seq, 3);
});

test('a draft whose record no member could read is refused to its caller alone, before anything is signed', async () => {
  await using directory = await temporaryDirectory();
  const counting = countingSigner();
  await using fixture = await IntakeFixture.open(directory.path, { signer: counting });
  const unreadable: Draft = { ...draftOf('s'), account: 'a'.repeat(65) };
  const [first, refused, last] = await Promise.allSettled(
    [draftOf('s'), unreadable, draftOf('s')].map((draft) => fixture.intake.submit(draft)),
  );
  assert.equal([first?.status, refused?.status, last?.status], ['fulfilled', 'rejected', 'fulfilled']);
  assert.match(String(refused?.status === 'rejected' && refused.reason), /record content: \/account/);
  const signed = counting.signed;
  assert.match(await codeOf(fixture.intake.submitAll([unreadable])), /record content/);
  const refusal: unknown = await fixture.intake.prepareAll([unreadable]).catch((error: unknown) => error);
  assert.match(String(refusal), /record content/, 'nor is it sold');
  assert.is(counting.signed, signed);
  assert.is((await requireWholeStore(fixture.store)).length, 2);
});

test('a group signed on top of one that the disk refuses takes its places again', async () => {
  await using directory = await temporaryDirectory();
  const gates: ((fate: Fate) => void)[] = [];
  const counting = countingSigner();
  await using fixture = await IntakeFixture.open(directory.path, {
    signer: counting,
    fate: () => new Promise((resolve) => gates.push(resolve)),
  });
  const first = codeOf(fixture.intake.submit(draftOf('s', { n: 1 })));
  await until('a write at the disk', () => gates.length === 1);
  const second = fixture.intake.submit(draftOf('s', { n: 2 }));
  await until('the second signed', () => counting.signed === 2);
  gates.shift()?.('refused');
  assert.is(await first, 'store-failed');
  await until('a write at the disk', () => gates.length === 1);
  gates.shift()?.('kept');
  const { record } = await second;
  assert.equal([record.seq, record.sourceSeq, record.sourcePrev], [1, 1, null]);
  await requireWholeStore(fixture.store);
});

test('several refusals in a row, then order again', async () => {
  await using directory = await temporaryDirectory();
  const fates = inOrder('refused', 'refused', 'kept', 'refused', 'refused', 'refused');
  await using fixture = await IntakeFixture.open(directory.path, { fate: fates });
  const codes: string[] = [];
  // Each is a group of its own: the next one is submitted once it is answered.
  for (let i = 0; i < 8; i++) codes.push(await codeOf(fixture.intake.submit(draftOf('s', { i }))));
  assert.equal(
    codes.map((code) => (code === 'none' ? 'kept' : 'refused')),
    ['refused', 'refused', 'kept', 'refused', 'refused', 'refused', 'kept', 'kept'],
  );
  assert.is((await requireWholeStore(fixture.store)).length, 3);
});

test('a signer that fails refuses its group alone', async () => {
  await using directory = await temporaryDirectory();
  let broken = true;
  await using fixture = await IntakeFixture.open(directory.path, {
    signer: {
      ...signer,
      sign: (message, context) => (broken ? Promise.reject(new Error('no entropy')) : signer.sign(message, context)),
    },
  });
  assert.is(await codeOf(fixture.intake.submit(draftOf('s'))), 'signing-failed');
  assert.is(fixture.intake.signerFailing, true);
  broken = false;
  assert.is((await fixture.intake.submit(draftOf('s'))).record.seq, 1);
  assert.is(fixture.intake.signerFailing, false);
  await requireWholeStore(fixture.store);
});

test('a group whose signing failed is not recorded after its callers were refused, even when the write before fails too', async () => {
  await using directory = await temporaryDirectory();
  const gates: ((fate: Fate) => void)[] = [];
  let calls = 0;
  await using fixture = await IntakeFixture.open(directory.path, {
    fate: () => (gates.length === 0 ? new Promise((resolve) => gates.push(resolve)) : 'kept'),
    signer: {
      ...signer,
      sign: (message, context) =>
        ++calls === 2 ? Promise.reject(new Error('no entropy')) : signer.sign(message, context),
    },
  });
  const first = codeOf(fixture.intake.submit(draftOf('s', { n: 1 })));
  await until('a write at the disk', () => gates.length === 1);
  const second = codeOf(fixture.intake.submit(draftOf('s', { n: 2 })));
  assert.is(await second, 'signing-failed');
  gates[0]?.('refused');
  assert.is(await first, 'store-failed');
  await pause();
  assert.is((await requireWholeStore(fixture.store)).length, 0);
});

test('records that reached the disk unsaid before a crash are there afterwards, and the order goes on', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await IntakeFixture.open(directory.path, { fate: inOrder('kept', 'kept-unsaid') });
    await fixture.intake.submit(draftOf('s'));
    assert.is(await codeOf(fixture.intake.submit(draftOf('s'))), 'store-failed');
  }
  await using fixture = await IntakeFixture.open(directory.path);
  const { record } = await fixture.intake.submit(draftOf('s'));
  assert.equal([record.seq, record.sourceSeq], [3, 3]);
  assert.is((await requireWholeStore(fixture.store)).length, 3);
});

test('all drafts of one submission, or none', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path, { fate: inOrder('refused') });
  const drafts = Array.from({ length: 300 }, (_, i) => draftOf('s', { i }));
  assert.is(await codeOf(fixture.intake.submitAll(drafts)), 'store-failed');
  assert.is((await requireWholeStore(fixture.store)).length, 0);
  assert.is((await fixture.intake.submitAll(drafts)).length, 300);
  assert.is((await requireWholeStore(fixture.store)).length, 300);
});

async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 15));
}

test.run();
