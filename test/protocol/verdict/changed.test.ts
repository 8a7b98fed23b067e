import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import type { Known } from '../../../protocol/verdict/known.ts';
import { FileError } from '../../../protocol/verdict/file-reader.ts';
import { parseBundle } from '../../../protocol/verdict/parse.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { type LogDraft, recordAt } from '../../fixtures/federation-log-batch.ts';
import { bundleOf, linkedOf } from '../../fixtures/federation-log-bundle.ts';
import { fc } from '../../fixtures/properties.ts';
import { cachedSuite } from './cached-suite.ts';
import { placesOf, replaceAt, stringsOf } from './json-places.ts';
import { reviewer } from '../evidence/case.ts';

const SEED = 20_261_122;
const REPLACEMENTS = [...'0123456789abcdefABCDEFxyzXYZ-_:"{}[],. \\\u0000é😀', '\ud800'];
/** What may be passed over, or is not read: a change there can leave the verdict as it is. */
const OPTIONAL = /^\/(checkpoints|keys|revocations|timestamps|linked)|^\/(decision|rosters\/\d+\/decision)\/paths/;

const suite = cachedSuite(nativeSuite);
const { bundle, known, foreign } = await richBundle();
const verdict = verifyBundle(suite, bundle, known);
const meaning = meaningOf(verdict);
const places = placesOf(bundle);
const strings = stringsOf(bundle).filter(({ text }) => text.length > 0);

/** What a verified bundle says: of which record, by whom, when, with what payload, and what it is evidence of. */
function meaningOf({ record, ledger, facts, evidence, pinned }: Verdict): string {
  return JSON.stringify([record, ledger, facts.payload, evidence?.complianceStatus, pinned]);
}

test('the bundle under test holds one of everything, and verifies', () => {
  assert.is(verdict.word, 'verified');
  assert.is(verdict.facts.payload, 'disclosed');
  assert.is(verdict.evidence?.complianceStatus.article14, true);
  assert.equal(
    verdict.linked.map(({ word }) => word),
    ['verified'],
  );
  for (const [name, list] of Object.entries(bundle)) if (Array.isArray(list)) assert.ok(list.length > 0, name);
});

test('a changed character anywhere verifies nothing else', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...strings),
      fc.nat(),
      fc.constantFrom(...REPLACEMENTS),
      ({ pointer, text }, at, to) => {
        const i = at % text.length;
        fc.pre(text[i] !== to);
        assertSame(pointer, text.slice(0, i) + to + text.slice(i + 1));
      },
    ),
    { numRuns: 500, seed: SEED },
  );
});

test('a flipped bit of one string of each sort, and each string cut, lengthened or emptied, verifies nothing else', () => {
  for (const { pointer, text } of strings) {
    const stride = Math.max(1, Math.floor(text.length / 2));
    for (let i = 0; i < text.length; i += stride) {
      assertSame(pointer, text.slice(0, i) + String.fromCharCode(text.charCodeAt(i) ^ 1) + text.slice(i + 1));
    }
    for (const changed of [text.slice(1), text.slice(0, -1), `${text}A`, `${text}\n`, ` ${text}`, '']) {
      assertSame(pointer, changed);
    }
  }
});

test('a value removed, emptied, doubled, or another of the bundle in its place verifies nothing else', () => {
  const place = fc.constantFrom(...places.filter(({ pointer }) => pointer !== ''));
  fc.assert(
    fc.property(place, fc.constantFrom(...places), fc.nat(5), ({ pointer, value }, other, how) => {
      const doubled = Array.isArray(value) ? [...value, ...value] : value;
      const changes: (JsonValue | undefined)[] = [undefined, null, [], {}, doubled, other.value];
      assertSame(pointer, changes[how]);
    }),
    { numRuns: 500, seed: SEED },
  );
});

test('a value of another federation’s bundle in the place of one verifies nothing else', () => {
  for (const { pointer, value } of placesOf(foreign)) {
    if (pointer !== '') assertSame(pointer, value);
  }
});

/**
 * Either it is refused, or it is not verified, or it means the same; a string that must hold leaves it not verified.
 */
function assertSame(pointer: string, replacement: JsonValue | undefined): void {
  const changed = replaceAt(bundle, pointer, replacement);
  if (JSON.stringify(changed) === JSON.stringify(bundle)) return;
  let found: Verdict;
  try {
    found = verifyBundle(suite, parseBundle(changed), known);
  } catch (error) {
    assert.ok(error instanceof FileError, `${pointer}: ${String(error)}`);
    return;
  }
  if (!found.verified) return;
  if (pointer.startsWith('/linked') || pointer === '/disclosure' || pointer === '/record/body') {
    // Less may be shown, never something else.
    assert.equal([found.record, found.ledger], [verdict.record, verdict.ledger], pointer);
    assert.ok(['disclosed', 'withheld'].includes(found.facts.payload), pointer);
    return;
  }
  assert.is(meaningOf(found), meaning, pointer);
  assert.ok(OPTIONAL.test(pointer) || pointer.startsWith('/rosters'), `${pointer} may not change`);
}

/** A bundle with three rosters, a rotated key, revocations of two witnesses, a payload, and a review of its record. */
async function richBundle(): Promise<{ bundle: Bundle; known: Known; foreign: Bundle }> {
  const make = async (seed: string) => {
    const log = await FederationLog.create({ quorum: 2, seed });
    for (const node of ['za', 'br']) {
      await log.admit(node);
      log.addRoster({ members: log.membersWith([node]) });
    }
    await log.rotateKey('eu');
    const sealed = await log.record('eu', [{}, {}, {}]);
    const claims = { reviewer: reviewer('a'), reviewOutcome: 'confirmed' } as const;
    const draft: LogDraft = { kind: 'human_override', links: { original: recordAt(sealed, 1).id }, claims };
    const review = await log.record('eu', [draft]);
    await log.revoke('us');
    await log.revoke('ca', { reason: 'compromised', compromisedSince: log.tick() });
    const checkpoints = await Promise.all(['us', 'ca', 'eu', 'sg', 'jp', 'za'].map((node) => log.checkpoint(node)));
    const own = await bundleOf(log, sealed, 1, { disclosed: true, checkpoints });
    const made: Bundle = { ...own, linked: [linkedOf(log, review, 0, own)], timestamps: [own.receipt.signature] };
    return { made, pin: log.genesis };
  };
  const [here, elsewhere] = [await make('here'), await make('elsewhere')];
  return { bundle: here.made, known: { pin: here.pin }, foreign: elsewhere.made };
}

test.run();
