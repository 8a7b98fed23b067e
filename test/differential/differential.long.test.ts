import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { browserOnPath } from '../browser/verifier-bundle.ts';
import { SEED } from '../runner/seed.ts';
import { createCorpus } from './corpus.ts';
import { differential } from './differential.ts';
import type { Answer, Judge } from './judge.ts';
import { browserJudge, commandJudge, libraryJudge } from './judges.ts';
import { nodeJudge } from './node-judge.ts';
import { releasedJudges } from './released-judges.ts';

const BUNDLES = 300;
/** Of each run that is to find a judge wrong. */
const FEW = 40;

const corpus = await createCorpus(`differential/${SEED}`);

if (browserOnPath() === null) {
  console.log('SKIP: no browser on PATH: the script for browsers is judged in a context of its own');
}

/** A Node of before 24, which the file of a release has to run on; none where the system has none. */
const OLDER = oldNode();
if (OLDER === null) console.log('SKIP: no Node 20 to 23 at hand: meridian-verify.mjs runs on this one alone');

/** Of the system, where that is older than the one that runs the tests. */
function oldNode(): string | null {
  for (const path of ['/usr/local/bin/node', '/usr/bin/node']) {
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    if (/^v2[0-3]\./.test(stdout ?? '')) return path;
  }
  return null;
}

test('library, command line, browser, node and the files of a release come to the same on every bundle, and nothing false is verified', async () => {
  const released = await releasedJudges(OLDER === null ? [] : [OLDER]);
  const judges = [libraryJudge(), commandJudge(), await browserJudge(), ...released];
  const { findings, words, mutations } = await differential({
    bundles: BUNDLES,
    seed: SEED,
    corpus,
    judges,
    node: nodeJudge,
  });
  assert.equal(
    findings.map(({ name, what }) => `${name}: ${what}`),
    [],
  );
  assert.ok((words.get('verified') ?? 0) > BUNDLES / 10, 'some are verified');
  assert.ok(words.size > 8, [...words.keys()].join());
  assert.ok(mutations.size > 20);
  for (const judge of released) await judge[Symbol.asyncDispose]();
});

test('a judge that differs in a word or a code, or that verifies all, is found', async () => {
  const library = libraryJudge();
  const wrong = (change: Partial<Answer>): Judge => ({
    ...library,
    name: 'wrong',
    judge: async (texts, pin) => (await library.judge(texts, pin)).map((answer) => Object.assign({}, answer, change)),
  });
  const of = async (...judges: readonly Judge[]) =>
    (await differential({ bundles: FEW, seed: SEED, corpus, judges })).findings;
  assert.is((await of(library)).length, 0);
  assert.is((await of(library, wrong({ codes: ['none'] }))).length, FEW);
  const said = await of(wrong({ word: 'verified' }));
  assert.ok(said.length > 10);
  assert.ok(said.every(({ what }) => what.startsWith('verified, though')));
});

test('a node that differs from its log in a word or a code, or that verifies all, is found', async () => {
  await using honest = await nodeJudge(corpus);
  const wrong = async (change: (answer: Answer) => Answer) => {
    const node = async (): Promise<Judge> => ({
      name: honest.name,
      judge: async (texts, pin) => (await honest.judge(texts, pin)).map(change),
      async [Symbol.asyncDispose]() {},
    });
    return (await differential({ bundles: FEW, seed: SEED, corpus, judges: [libraryJudge()], node })).findings.length;
  };
  assert.is(await wrong((answer) => answer), 0);
  assert.ok((await wrong((answer) => ({ ...answer, codes: [...answer.codes, 'none'] }))) > 20);
  assert.ok((await wrong((answer) => ({ ...answer, word: 'verified' }))) > 10);
  assert.ok((await wrong((answer) => ({ ...answer, word: 'contradicted' }))) > 10);
});

test.run();
