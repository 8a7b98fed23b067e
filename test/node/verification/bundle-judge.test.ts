import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { judgeBundle, type JudgingTerms } from '../../../node/verification/judge-bundle.ts';
import { type BundleBytes, JudgingError, JudgingThread } from '../../../node/verification/judging-thread.ts';
import type { NodeKey } from '../../../node/verification/signing-keys.ts';
import { BundleJudge } from '../../../node/verification/verifier.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { JsonError } from '../../../protocol/json/value.ts';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { FileError } from '../../../protocol/verdict/file-reader.ts';
import { bundleOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';

const MAX_BUNDLE_BYTES = 16 << 20;
const log = await FederationLog.create();
const batch = await log.record('eu', [{}, {}]);
const bundle = await bundleOf(log, batch, 1);
const text = JSON.stringify(bundle);
const many = <Item>(item: Item): Item[] => Array.from({ length: 1_000 }, () => item);
/** The same record, with as much beside it as a bundle may have. */
const long = JSON.stringify({ ...bundle, keys: [...many(bundle.keys[0]), ...bundle.keys] });
const limits = { maxDepth: 40, maxValues: 131_072 };
const { rosters } = viewOf(log);
const index = log.indexOf(batch) ?? 0;
const terms: JudgingTerms = {
  log: {
    roots: new Map(),
    decisions: new Map([[index, log.decisions[index] ?? '']]),
    batches: new Map(),
    rosters,
    revocations: [],
    unclear: [],
    checkpoints: [],
  },
  at: timestampOf(Date.UTC(2026, 10, 21)),
  limits,
};

const bytesOf = (one: string): BundleBytes => new TextEncoder().encode(one);

const judge = new BundleJudge();
test.after(() => judge[Symbol.asyncDispose]());

test('a thread judges as the protocol does, bundles of any length', async () => {
  for (const one of [text, long]) {
    assert.equal(await judge.judge(bytesOf(one), terms), judgeBundle(nativeSuite, one, terms));
  }
  const verdict = await judge.judge(bytesOf(text), terms);
  assert.equal([verdict.word, verdict.pinned?.version], ['verified', 1]);
});

test('a bundle asks the log about all that it names', async () => {
  const sizes = [...new Set(bundle.checkpoints.map(({ text: checkpoint }): number => JSON.parse(checkpoint).size))];
  const given = bytesOf(text);
  const { questions, bundle: back } = await judge.questions(given, limits);
  assert.equal([given.length, Buffer.from(back).toString()], [0, text]);
  assert.equal([questions.places, questions.sizes], [[index], sizes]);
  assert.equal(
    questions.batches.map(({ node, batch: number }) => [node, number]),
    [['eu', 1]],
  );
});

test('what a key signed whose revocation is in force and not known here is not verified, and no checkpoint by it counts', async () => {
  const withUnclear = (...unclear: readonly NodeKey[]) =>
    judge.judge(bytesOf(text), { ...terms, log: { ...terms.log, unclear } });
  const { keyId } = batch.envelope;
  assert.is((await withUnclear({ node: nodeId('eu'), keyId })).word, 'too-few-checkpoints');
  assert.is((await withUnclear({ node: nodeId('us'), keyId })).word, 'verified');
  const witnesses = bundle.checkpoints.map(({ text: checkpoint }) => checkpointStatement.parse(checkpoint));
  assert.is(
    (await withUnclear(...witnesses.map(({ node, keyId: of }) => ({ node, keyId: of })))).word,
    'too-few-checkpoints',
  );
});

test('what the log knows otherwise is contradicted', async () => {
  const other = new Map([[index, 'another decision']]);
  const { word } = await judge.judge(bytesOf(text), { ...terms, log: { ...terms.log, decisions: other } });
  assert.is(word, 'contradicted');
});

test('what is no JSON, no object or no bundle fails as it does in this thread, and harms no other', async () => {
  const good = judge.judge(bytesOf(text), terms);
  const errors = await Promise.all(
    ['{', '[]', '{"a":1,"a":2}', '{"a":9007199254740993}', '{}', text.replace('"receipt"', '"recipe"')].map((bad) =>
      judge.judge(bytesOf(bad), terms).catch((error: unknown) => error),
    ),
  );
  assert.ok(errors.slice(0, 4).every((error) => error instanceof JsonError));
  assert.ok(errors.slice(4).every((error) => error instanceof FileError && error.message !== ''));
  assert.ok((await good).verified);
});

test('the event loop goes on: this thread does a small part of the work', async () => {
  const cost = async (work: () => unknown): Promise<number> => {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  // The least of some: a collection of garbage falls on whichever is under way.
  const least = async (work: () => unknown): Promise<number> =>
    Math.min(await cost(work), await cost(work), await cost(work));
  const here = await least(() => judgeBundle(nativeSuite, long, terms));
  const apart = await least(() => judge.judge(bytesOf(long), terms));
  console.log(
    `${(long.length / 2 ** 20).toFixed(1)} MiB: ${apart.toFixed(1)} ms of this thread, ${here.toFixed(1)} ms in it`,
  );
  assert.ok(apart < here / 2, `${apart} ms of ${here}`);
});

test('a bundle that takes too much memory fails alone, whatever waits behind it', async () => {
  await using thread = new JudgingThread({ heapMiB: 24 });
  const outcomes = [long, text, '{', text].map((one) =>
    thread.judge(bytesOf(one), terms).then(
      (verdict) => verdict.verified,
      (error: unknown) => (error instanceof Error ? error.name : ''),
    ),
  );
  assert.equal(await Promise.all(outcomes), ['JudgingError', true, 'JsonError', true]);
});

test('of the longest text and the most values there may be, two bytes a character, none is too much for a thread', async () => {
  const characters = (MAX_BUNDLE_BYTES >> 1) / limits.maxValues - 4;
  const values = Array.from({ length: limits.maxValues - 1_000 }, () => 'я'.repeat(characters));
  const longest = JSON.stringify({ ...bundle, keys: values });
  assert.ok(Buffer.byteLength(longest) > MAX_BUNDLE_BYTES * 0.9 && Buffer.byteLength(longest) <= MAX_BUNDLE_BYTES);
  const error: unknown = await judge.judge(bytesOf(longest), terms).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof FileError, String(error));
});

test('a bundle that takes too long is given up', async () => {
  await using thread = new JudgingThread({ judgingMs: 5 });
  const error: unknown = await thread.judge(bytesOf(long), terms).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof JudgingError, String(error));
});

test('what is no fault of the bundle is told as what it is', async () => {
  await using thread = new JudgingThread();
  const unsendable = { ...terms, work: () => undefined };
  const error: unknown = await thread.judge(bytesOf(text), unsendable).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof Error && error.name === 'DataCloneError', String(error));
});

test('disposed, it fails those who wait and takes nothing more', async () => {
  const thread = new JudgingThread();
  const waiting = thread.judge(bytesOf(long), terms).catch((thrown: unknown) => thrown);
  await thread[Symbol.asyncDispose]();
  assert.ok((await waiting) instanceof JudgingError);
  assert.ok((await thread.judge(bytesOf(text), terms).catch((thrown: unknown) => thrown)) instanceof JudgingError);
});

test.run();
