import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { JsonError } from '../../../protocol/json/value.ts';
import { BUNDLE_MAX_DEPTH, MAX_BUNDLE_CHARACTERS, MAX_ITEMS, MAX_LINKED } from '../../../protocol/verdict/bundle.ts';
import { FileError } from '../../../protocol/verdict/file-reader.ts';
import {
  parseBundle,
  parseBundleText,
  parsePublicProofText,
  parseRevocationsText,
  parseRosterFileText,
} from '../../../protocol/verdict/parse.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { bundleOf, linkedOf, rosterEntries } from '../../fixtures/federation-log-bundle.ts';
import { placesOf, replaceAt } from './json-places.ts';
import { at } from './judged.ts';

const log = await FederationLog.create();
const sealed = await log.record('eu', [{}, {}]);
await log.revoke('us');
log.addRoster({ name: 'renamed' });
const own = await bundleOf(log, sealed, 0, { disclosed: true });
const bundle = { ...own, linked: [linkedOf(log, sealed, 1, own)], timestamps: [own.receipt.signature] };

function refusal(value: JsonValue): FileError {
  try {
    parseBundle(value);
  } catch (error) {
    if (error instanceof FileError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

test('a bundle reads as it was written', () => {
  assert.equal(parseBundleText(JSON.stringify(bundle)), bundle);
});

test('a bundle has 16 MiB at most, before it is parsed', () => {
  const text = ' '.repeat(MAX_BUNDLE_CHARACTERS + 1);
  assert.throws(
    () => parseBundleText(text),
    (error: unknown) => error instanceof FileError && error.code === 'too-long',
  );
  assert.throws(
    () => parseBundleText(text.slice(1)),
    (error: unknown) => error instanceof JsonError,
  );
});

test('a disclosed integer is the one that was recorded, or the file is refused', async () => {
  const wei = await log.record('eu', [{ payload: { data: { wei: 1e18 } } }]);
  const text = JSON.stringify(await bundleOf(log, wei, 0, { disclosed: true }));
  assert.ok(parseBundleText(text));
  assert.throws(
    () => parseBundleText(text.replace('1000000000000000000', '1000000000000000001')),
    (error: unknown) => error instanceof JsonError && error.code === 'inexact-integer',
  );
});

test('a member too many is refused anywhere but in a payload, with the place of it', () => {
  const objects = placesOf(bundle).filter(({ value, pointer }) => {
    return typeof value === 'object' && !Array.isArray(value) && value !== null && !pointer.includes('/payload');
  });
  assert.ok(objects.length > 20);
  for (const { pointer, value } of objects) {
    const changed = typeof value === 'object' ? replaceAt(bundle, pointer, { ...value, extra: 1 }) : bundle;
    assert.is(refusal(changed).code, 'malformed', pointer);
  }
  assert.is(refusal(replaceAt(bundle, '/receipt/signature', 'not base64url!')).pointer, '/receipt/signature');
});

test('a member that lacks is refused, but for those that may be absent', () => {
  const absent = new Set(['disclosure', 'linked', 'timestamps']);
  for (const name of Object.keys(bundle)) {
    if (absent.has(name)) assert.ok(parseBundle(replaceAt(bundle, `/${name}`, undefined)));
    else refusal(replaceAt(bundle, `/${name}`, undefined));
  }
});

test('lists, paths and linked records have their bounds', () => {
  const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);
  const { decision } = bundle;
  if (decision === null) throw new Error('no decision');
  const path = at(decision.paths);
  const hash = log.genesis;
  for (const [name, most, item] of [
    ['checkpoints', MAX_ITEMS, at(bundle.checkpoints)],
    ['keys', MAX_ITEMS, { statement: '', signature: 'AA' }],
    ['revocations', MAX_ITEMS, { statement: '', signature: 'AA', decision: { text: '', paths: [] } }],
    ['rosters', MAX_ITEMS, { text: '', decision: null }],
    ['timestamps', MAX_ITEMS, 'AA'],
    ['linked', MAX_LINKED, at(bundle.linked)],
  ] as const) {
    assert.ok(parseBundle({ ...bundle, [name]: many(most, item) }), name);
    refusal({ ...bundle, [name]: many(most + 1, item) });
  }
  refusal({ ...bundle, rosters: [] });
  assert.ok(parseBundle({ ...bundle, decision: { ...decision, paths: many(MAX_ITEMS, path) } }));
  refusal({ ...bundle, decision: { ...decision, paths: many(MAX_ITEMS + 1, path) } });
  assert.ok(parseBundle({ ...bundle, receipt: { ...bundle.receipt, path: many(64, hash) } }));
  refusal({ ...bundle, receipt: { ...bundle.receipt, path: many(65, hash) } });
  refusal({ ...bundle, decision: { ...decision, paths: [{ size: 1, path: many(65, hash) }] } });
});

test('nesting ends at 36, and members of one name are refused', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const withPayload = (payload: string) =>
    JSON.stringify({ ...bundle, disclosure: { salt: 'AA', payload: 0 } }).replace(
      '"payload":0',
      `"payload":${payload}`,
    );
  assert.is(BUNDLE_MAX_DEPTH, 36);
  assert.ok(parseBundleText(withPayload(nested(BUNDLE_MAX_DEPTH - 2))));
  assert.throws(() => parseBundleText(withPayload(nested(BUNDLE_MAX_DEPTH - 1))), /nesting/);
  assert.throws(() => parseBundleText(withPayload('{"a":1,"a":2}')), /same name/);
});

test('another format is refused', () => {
  assert.is(refusal({ ...bundle, format: 'meridian-bundle/1' }).pointer, '/format');
});

test('a public proof shows no body, discloses nothing and links nothing', () => {
  const { disclosure: _, linked: __, ...rest } = bundle;
  const proof = { ...rest, record: { ...rest.record, body: null } };
  assert.equal(parsePublicProofText(JSON.stringify(proof)), proof);
  for (const more of [bundle, rest, { ...proof, linked: [] }, { ...proof, disclosure: bundle.disclosure }]) {
    assert.throws(
      () => parsePublicProofText(JSON.stringify(more)),
      (error: unknown) => error instanceof FileError,
    );
  }
});

test('a file of revocations, and one of rosters, are closed lists', () => {
  const { revocations, checkpoints, keys } = bundle;
  const file = { revocations, checkpoints, keys };
  assert.equal(parseRevocationsText(JSON.stringify(file)), file);
  assert.throws(() => parseRevocationsText(JSON.stringify({ ...file, rosters: [] })));
  assert.throws(() => parseRevocationsText(JSON.stringify(revocations)));
  const rosters = rosterEntries(log, []);
  assert.equal(parseRosterFileText(JSON.stringify(rosters)), rosters);
  assert.throws(() => parseRosterFileText('[]'));
});

test.run();
