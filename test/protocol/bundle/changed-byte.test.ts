import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { type Bundle, BundleError, parseBundle } from '../../../protocol/bundle/bundle.ts';
import type { Check, Verdict } from '../../../protocol/bundle/verdict.ts';
import { verifyBundle } from '../../../protocol/bundle/verify.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { withLinked } from '../../fixtures/federation-batch.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { fc } from '../../fixtures/properties.ts';
import { reviewer } from '../evidence/case.ts';
import { cachedSuite } from './cached-suite.ts';
import { replaceAt, stringsOf } from './json-places.ts';

/** The checks, one of which a change at such a place must fail. Longer prefixes come first. */
const FITTING: readonly (readonly [string, readonly Check[]])[] = [
  ['/record', ['leafRederived', 'proofWalk']],
  ['/receipt/statement', ['bundleBinding', 'sigValid']],
  ['/receipt/signature', ['sigValid']],
  ['/receipt/path', ['proofWalk']],
  ['/batch/envelope', ['bundleBinding', 'sigValid']],
  ['/batch/signature', ['sigValid']],
  ['/batch/path', ['proofWalk']],
  ['/cosignatures', ['bundleBinding', 'sigValid']],
  ['/anchor', ['bundleBinding']],
  ['/keys', ['sigValid']],
  ['/revocations', ['sigValid']],
  ['/rosters', ['sigValid']],
  ['/disclosure', ['payloadHashMatch']],
];
/** The running hash does not cover it: the one string of a bundle that proves nothing. */
const INFORMATIVE = '/anchor/transactionId';
const REPLACEMENTS = [...'0123456789abcdefABCDEFxyzXYZ-_:"{}[],. \\\u0000é😀'];

const suite = cachedSuite(nativeSuite);
const bundle = await richBundle();
const places = stringsOf(bundle);
const linking = await linkingBundle();
const linkedPlaces = stringsOf(linking).filter(
  ({ pointer }) => pointer.startsWith('/linked/0') && pointer !== `/linked/0${INFORMATIVE}`,
);

test('the bundle under test holds one of everything, and verifies', () => {
  const verdict = verifyBundle(suite, bundle);
  assert.equal(verdict.problems, []);
  assert.ok(verdict.verified && verdict.witnessed);
  const missing = FITTING.filter(([prefix]) => !places.some(({ pointer }) => pointer.startsWith(prefix)));
  assert.equal(missing, []);
});

test('a changed byte anywhere makes verification fail, and names a fitting check', () => {
  const place = fc.constantFrom(...places.filter(({ pointer, text }) => pointer !== INFORMATIVE && text.length > 0));
  fc.assert(
    fc.property(place, fc.nat(), fc.constantFrom(...REPLACEMENTS), ({ pointer, text }, at, replacement) => {
      const index = at % text.length;
      fc.pre(text[index] !== replacement);
      assertFails(pointer, text.slice(0, index) + replacement + text.slice(index + 1), `byte ${index}`);
    }),
    { numRuns: 1500 },
  );
});

test('every single bit of one string of each sort counts', () => {
  const sorts = new Map(
    places.filter(({ pointer }) => pointer !== INFORMATIVE).map((place) => [sortOf(place.pointer), place]),
  );
  assert.ok(sorts.size >= 20);
  for (const { pointer, text } of sorts.values()) {
    // Signatures and keys are thousands of letters: their ends and a stride through them stand for the rest.
    const stride = Math.max(1, Math.floor(text.length / 40));
    for (let at = 0; at < text.length; at += at + stride < text.length ? stride : Math.max(1, text.length - 1 - at)) {
      const flipped = String.fromCharCode(text.charCodeAt(at) ^ 1);
      assertFails(pointer, text.slice(0, at) + flipped + text.slice(at + 1), `byte ${at}`);
    }
  }
});

test('a string cut short, lengthened or emptied makes verification fail', () => {
  for (const { pointer, text } of places) {
    if (pointer === INFORMATIVE) continue;
    for (const changed of [text.slice(1), text.slice(0, -1), `${text}A`, `${text}\n`, ` ${text}`, '']) {
      if (changed !== text) assertFails(pointer, changed, JSON.stringify(changed.slice(-4)));
    }
  }
});

test('a changed byte anywhere in a linked record: it holds no more, and the bundle does', () => {
  const place = fc.constantFrom(...linkedPlaces.filter(({ text }) => text.length > 0));
  fc.assert(
    fc.property(place, fc.nat(), fc.constantFrom(...REPLACEMENTS), ({ pointer, text }, at, replacement) => {
      const index = at % text.length;
      fc.pre(text[index] !== replacement);
      assertLinkedFails(pointer, text.slice(0, index) + replacement + text.slice(index + 1), `byte ${index}`);
    }),
    { numRuns: 1000 },
  );
  for (const { pointer, text } of linkedPlaces) {
    for (const changed of [text.slice(1), text.slice(0, -1), `${text}A`, ` ${text}`, '']) {
      if (changed !== text) assertLinkedFails(pointer, changed, JSON.stringify(changed.slice(-4)));
    }
  }
});

test('only the transaction id may change', () => {
  assert.ok(verifyBundle(suite, parseBundle(replaceAt(bundle, INFORMATIVE, 'another'))).verified);
});

/** A bundle with two rosters, a key that was rotated, and a revocation that came after the batch. */
async function richBundle(): Promise<Bundle> {
  const federation = await TestFederation.create();
  await federation.rotateKey('eu');
  await federation.addRoster({ name: 'test, renamed' }, ['us', 'ca', 'jp']);
  const drafts = [{}, {}, { payload: { data: { input: { name: 'Ada' }, output: ['yes'] }, at: 1 } }, {}, {}];
  const batch = await federation.sealBatch('eu', drafts, { groupSize: 4 });
  await federation.revokeKey('eu');
  return batch.bundleFor(2);
}

/** A bundle with an override of its record, which shows article 14 with it and not without. */
async function linkingBundle(): Promise<Bundle> {
  const federation = await TestFederation.create();
  const batch = await federation.sealBatch('eu', [{}, {}]);
  const original = batch.records[0]?.record.id;
  if (original === undefined) throw new Error('no record');
  const draft = { kind: 'human_override', links: { original }, claims: { reviewer: reviewer('a') } } as const;
  const linked = withLinked(batch.bundleFor(0), [(await federation.sealBatch('us', [draft])).bundleFor(0)]);
  assert.ok(verifyBundle(suite, linked).complianceStatus.article14);
  return linked;
}

function assertLinkedFails(pointer: string, text: string, what: string): void {
  const label = `${pointer}, ${what}`;
  const verdict = verdictOn(replaceAt(linking, pointer, text));
  if (verdict === null) return;
  assert.ok(verdict.verified, label);
  assert.is(verdict.linked[0]?.holds, false, label);
  assert.is(verdict.complianceStatus.article14, false, label);
}

/** The place without its indexes: signatures of any cosignature are one sort. */
function sortOf(pointer: string): string {
  return pointer.replaceAll(/\/\d+/g, '/n');
}

function assertFails(pointer: string, text: string, what: string): void {
  const label = `${pointer}, ${what}`;
  const verdict = verdictOn(replaceAt(bundle, pointer, text));
  if (verdict === null) return;
  assert.not(verdict.verified, label);
  const [, fitting] = FITTING.find(([prefix]) => pointer.startsWith(prefix)) ?? [];
  assert.ok(fitting, `${label} is no place that this test knows`);
  const failed = verdict.problems.map((problem) => problem.check);
  assert.ok(
    failed.some((check) => fitting?.includes(check) && !verdict.checks[check]),
    `${label} failed ${failed.join()}`,
  );
}

/** Null where the bundle is refused as malformed. */
function verdictOn(value: JsonValue): Verdict | null {
  try {
    return verifyBundle(suite, parseBundle(value));
  } catch (error) {
    assert.ok(error instanceof BundleError, String(error));
    return null;
  }
}

test.run();
