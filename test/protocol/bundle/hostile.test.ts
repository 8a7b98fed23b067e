import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import {
  type Bundle,
  BUNDLE_MAX_DEPTH,
  BundleError,
  MAX_LINKED_PROOFS,
  parseBundle,
  parseBundleText,
} from '../../../protocol/bundle/bundle.ts';
import { CHECKS, type Verdict } from '../../../protocol/bundle/verdict.ts';
import { verifyBundle } from '../../../protocol/bundle/verify.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { JsonError, type JsonValue } from '../../../protocol/json/value.ts';
import { withLinked } from '../../fixtures/federation-batch.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { fc } from '../../fixtures/properties.ts';
import { reviewer, shown } from '../evidence/case.ts';
import { cachedSuite } from './cached-suite.ts';
import { placesOf, replaceAt, stringsOf } from './json-places.ts';

const suite = cachedSuite(nativeSuite);
const federation = await TestFederation.create({ signerOf: nativeSigner });
await federation.addRoster({ name: 'renamed' }, ['us', 'ca', 'jp']);
const batch = await federation.sealBatch('eu', [{}, {}, {}, {}, {}]);
const override = await overrideOf(batch.records[1]?.record.id);
await federation.revokeKey('eu');
const sibling = batch.bundleFor(2);
const bundle = withLinked(batch.bundleFor(1), [override, sibling]);
const pin = federation.chain.genesis;

const SHOWN = shown(verifyBundle(suite, bundle, { pin }));
const places = placesOf(bundle);
const odd: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue[]>(
  null,
  true,
  0,
  -1,
  2 ** 53 - 1,
  1e308,
  '',
  '\ud800',
  '"\ud800"',
  '{}',
  '[]',
  '{"v":1}',
  'sha256:',
  'A',
  '0.0.9999999999999999999',
  '99999999999.999999999',
  '9999-12-31T23:59:59.999Z',
  [],
  {},
  [[]],
);
/** A value from elsewhere in this bundle or its sibling: the most plausible thing to put in a wrong place. */
const borrowed = fc.constantFrom<JsonValue[]>(...[...places, ...placesOf(sibling)].map(({ value }) => value));
/** Any place but the whole: the sibling put in the place of the bundle is simply another good bundle. */
const change = fc.record({
  pointer: fc.constantFrom(...places.map(({ pointer }) => pointer).filter((pointer) => pointer !== '')),
  value: fc.oneof(odd, borrowed, fc.constant(undefined)),
});

test('the bundle under test shows human oversight by its linked record', () => {
  assert.equal(SHOWN, ['article12_1', 'article12_3d', 'article14']);
});

test('whatever is put anywhere, verification answers, and never verifies another record or payload', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const changed = changes.reduce<JsonValue>(
        (value, { pointer, value: next }) => replaceAt(value, pointer, next),
        bundle,
      );
      assertSound(changed);
    }),
    { numRuns: 4000 },
  );
});

test('a member changed inside any signed text, canonically, is never verified', () => {
  const texts = stringsOf(bundle).filter(({ text }) => text.startsWith('{"'));
  const linkOf = (pointer: string) => /^\/linked\/(\d)/.exec(pointer)?.[1];
  assert.ok(texts.length >= 12);
  const inner = texts.flatMap(({ pointer, text }) =>
    placesOf(JSON.parse(text)).flatMap((place) => (place.pointer === '' ? [] : [{ pointer, text, inside: place }])),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...inner),
      fc.oneof(odd, borrowed, fc.constant(undefined)),
      ({ pointer, text, inside }, value) => {
        let changed: string;
        try {
          changed = canonicalize(replaceAt(JSON.parse(text), inside.pointer, value));
        } catch (error) {
          assert.ok(error instanceof JsonError);
          return;
        }
        fc.pre(changed !== text);
        const verdict = verdictOn(replaceAt(bundle, pointer, changed));
        const link = linkOf(pointer);
        const holds = link === undefined ? verdict?.verified : verdict?.linked[Number(link)]?.holds;
        assert.not(holds, `${pointer} ${inside.pointer}`);
        if (link !== undefined) assert.ok(verdict?.verified, pointer);
      },
    ),
    { numRuns: 2000 },
  );
});

test('unknown members are refused at every level, prototypes included', () => {
  for (const { pointer, value } of places) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    if (pointer.startsWith('/disclosure/payload')) continue;
    for (const name of ['extra', '__proto__', 'constructor', 'toString']) {
      const extended: JsonValue = JSON.parse(`${JSON.stringify(value).slice(0, -1)},"${name}":{}}`);
      const changed = replaceAt(bundle, pointer, extended);
      assert.throws(
        () => parseBundle(changed),
        (error: unknown) => error instanceof BundleError,
        `${pointer}/${name}`,
      );
    }
  }
});

test('the pointer of a malformed bundle leads to the member at fault', () => {
  const pointerOf = (value: JsonValue) => {
    try {
      parseBundle(value);
      return null;
    } catch (error) {
      return error instanceof BundleError ? error.pointer : undefined;
    }
  };
  assert.is(pointerOf(replaceAt(bundle, '/anchor/sequence', 7)), '/anchor/sequence');
  assert.is(pointerOf(replaceAt(bundle, '/receipt/path/0', 'sha256:00')), '/receipt/path/0');
  assert.is(pointerOf([]), '');
});

test('a doubled member anywhere in the text of a bundle is refused', () => {
  const text = JSON.stringify(bundle).replace('"record":', '"record":"first","record":');
  assert.throws(
    () => parseBundleText(text),
    (error: unknown) => error instanceof JsonError && error.code === 'duplicate-key',
  );
});

test('a payload as deep as intake takes it is still read from its bundle', async () => {
  let deep: JsonValue = 'end';
  for (let depth = BUNDLE_MAX_DEPTH - 2; depth > 0; depth--) deep = depth % 2 === 0 ? [deep] : { deep };
  const sealed = await federation.sealBatch('ca', [{ payload: deep }]);
  const text = JSON.stringify(sealed.bundleFor(0));
  assert.ok(verifyBundle(suite, parseBundleText(text), { pin }).verified);
  const deeper = JSON.stringify({ ...sealed.bundleFor(0), disclosure: { salt: 'A', payload: [deep] } });
  assert.throws(
    () => parseBundleText(deeper),
    (error: unknown) => error instanceof JsonError && error.code === 'too-deep',
  );
});

test('as many statements as a bundle may hold are judged in bounded time', () => {
  const filled: Bundle = {
    ...bundle,
    cosignatures: Array.from({ length: 1024 }, (_, i) => bundle.cosignatures[i % 4] ?? bundle.cosignatures[0]).flatMap(
      (signed) => (signed === undefined ? [] : [signed]),
    ),
    keys: Array.from({ length: 1024 }, (_, i) => bundle.keys[i % bundle.keys.length]).flatMap((signed) =>
      signed === undefined ? [] : [signed],
    ),
  };
  const start = performance.now();
  const verdict = verifyBundle(nativeSuite, parseBundle(filled));
  const took = performance.now() - start;
  assert.not(verdict.verified);
  assert.ok(took < 5000, `${took} ms`);
});

test('as many linked records as a bundle may hold are judged in bounded time', () => {
  const linked = Array.from({ length: MAX_LINKED_PROOFS }, (_, i) => bundle.linked?.[i % 2]).filter(
    (proof) => proof !== undefined,
  );
  const start = performance.now();
  const verdict = verifyBundle(nativeSuite, parseBundle({ ...bundle, linked }));
  const took = performance.now() - start;
  assert.ok(verdict.verified);
  assert.is(verdict.linked.filter(({ holds }) => holds).length, MAX_LINKED_PROOFS);
  assert.ok(took < 5000, `${took} ms`);
});

test('a bundle of a million wrong members is refused as fast as it is read', () => {
  const many: readonly JsonValue[] = Array.from({ length: 1_000_000 }, () => 1);
  const named = Object.fromEntries(many.slice(0, 100_000).map((value, i) => [`member${i}`, value]));
  for (const pointer of [
    '/receipt/path',
    '/cosignatures',
    '/keys',
    '/rosters/0/signatures',
    '/linked',
    '/linked/0',
    '/extra',
    '',
  ]) {
    for (const filler of [many, many.slice(0, 100_000).map(() => ({})), named]) {
      const start = performance.now();
      assert.is(verdictOn(replaceAt({ ...bundle, extra: null }, pointer, filler)), null);
      assert.ok(performance.now() - start < 3000, `${pointer}: ${performance.now() - start} ms`);
    }
  }
});

test('nesting without end is refused or judged, wherever it is', () => {
  for (const depth of [600, 5000, 100_000]) {
    const deep: JsonValue = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    for (const { pointer } of places.filter((place) => !place.pointer.startsWith('/disclosure/payload/'))) {
      assert.not(verdictOn(replaceAt(bundle, pointer, deep))?.verified, pointer);
    }
    assert.is(verdictOn({ ...bundle, extra: deep }), null);
    for (const head of [JSON.stringify('['.repeat(depth)), `{"v":${'['.repeat(depth)}${']'.repeat(depth)}}`]) {
      assert.not(verdictOn({ ...bundle, record: { ...bundle.record, head } })?.verified);
    }
  }
});

/** The bundle of a human override of that record, by another node. */
async function overrideOf(original: RecordId | undefined): Promise<Bundle> {
  if (original === undefined) throw new Error('no record');
  const draft = { kind: 'human_override', links: { original }, claims: { reviewer: reviewer('a') } } as const;
  return (await federation.sealBatch('us', [draft])).bundleFor(0);
}

/**
 * A changed bundle is refused, or judged; and judged good only where it still proves the same record and payload. It
 * shows no evidence that the whole one does not, and none at all where its own proof does not hold.
 */
function assertSound(changed: JsonValue): void {
  const verdict = verdictOn(changed);
  if (verdict === null) return;
  for (const check of CHECKS) {
    if (verdict.problems.some((problem) => problem.check === check)) assert.is(verdict.checks[check], false);
  }
  const { leafRederived, proofWalk, bundleBinding, sigValid } = verdict.checks;
  const holds = leafRederived && proofWalk && bundleBinding && sigValid;
  for (const clause of shown(verdict)) assert.ok(holds && SHOWN.includes(clause), clause);
  for (const { holds: linkHolds, problems } of verdict.linked) assert.is(linkHolds, problems.length === 0);
  if (!verdict.verified) return;
  const { record, disclosure } = parseBundle(changed);
  assert.equal(record, bundle.record);
  if (disclosure !== undefined) assert.equal(disclosure, bundle.disclosure);
}

/** Null where the bundle is refused as malformed; anything else thrown is a failure. */
function verdictOn(value: JsonValue): Verdict | null {
  let parsed: Bundle;
  try {
    parsed = parseBundle(value);
  } catch (error) {
    assert.ok(error instanceof BundleError, String(error));
    return null;
  }
  return verifyBundle(suite, parsed, { pin });
}

test.run();
