import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FederationLog } from '../fixtures/federation-log.ts';
import { bundleOf } from '../fixtures/federation-log-bundle.ts';
import { verdictOf } from '../protocol/verdict/judged.ts';
import { answersOfPage } from './page.ts';
import { BROWSERS, browserOnPath, bundleVerifier, verifierApart } from './verifier-bundle.ts';

const BROWSER_DEADLINE_MS = 60_000;

const log = await FederationLog.create();
const sealed = await log.record('eu', [{}, {}, {}, {}]);
const bundle = await bundleOf(log, sealed, 2, { disclosed: true });
const head = bundle.record.head.replace('"kind":"decision"', '"kind":"incident"');
const { disclosure: _disclosed, ...withheld } = bundle;
/** Bundles and the word that each has, under the pin. */
const VECTORS = [
  ['verified', bundle],
  ['verified', { ...withheld, record: { ...bundle.record, body: null } }],
  ['not-signed', { ...bundle, record: { ...bundle.record, head } }],
  ['payload-damaged', { ...bundle, disclosure: { ...bundle.disclosure, payload: 'another – ü' } }],
  ['no-batch-yet', { ...bundle, batch: null, decision: null }],
  ['no-decision-yet', { ...bundle, decision: null }],
  ['too-few-checkpoints', { ...bundle, checkpoints: bundle.checkpoints.slice(0, 2) }],
  ['unreadable', { ...bundle, format: 'meridian-bundle/1' }],
] as const;
const pin = log.genesis;
const texts = VECTORS.map(([, value]) => JSON.stringify(value));
const own = verdictOf(log, bundle);

const { script, metafile, warnings } = await bundleVerifier();

test('the verifier bundles for a browser without a Node module in reach', () => {
  const imports = Object.entries(metafile.inputs).flatMap(([path, input]) =>
    input.imports
      .filter((found) => found.external === true || found.path.startsWith('node:'))
      .map((found) => `${path}: ${found.path}`),
  );
  assert.equal(imports, []);
  assert.equal(warnings, []);
  const files = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules') && path !== '<stdin>');
  assert.ok(files.length > 20);
  assert.ok(
    files.every((path) => path.startsWith('protocol/')),
    files.join(),
  );
});

test('bundles are judged where there is neither Node nor eval, only the language and text codecs', () => {
  const verify = verifierApart(script);
  assertAnswers(texts.map((text) => verify(text, pin)));
});

const browser = browserOnPath();
if (browser === null) {
  console.log(`SKIP: no browser on PATH (${BROWSERS.join(', ')}): the verifier was not run in a real one`);
} else {
  test('bundles are judged in a real browser, under a policy that forbids eval', async () => {
    const page = { script, texts: texts.map((text) => [text, pin] as const) };
    assertAnswers(await answersOfPage(browser, page, BROWSER_DEADLINE_MS));
  });
}

function assertAnswers(answers: readonly string[]): void {
  const found = answers.map((answer) => JSON.parse(answer));
  assert.equal(
    found.map(({ word }) => word),
    VECTORS.map(([word]) => word),
  );
  assert.equal(found[0], JSON.parse(JSON.stringify(own)));
  const codes = found[2].problems.map(({ code }: { code: string }) => code);
  assert.equal(codes, ['path-to-group', 'path-to-batch']);
}

test.run();
