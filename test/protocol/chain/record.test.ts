import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import {
  type AttestationRecord,
  makeRecord,
  namesBody,
  openRecord,
  readBody,
  readHead,
  recordLeaf,
  writeRecord,
} from '../../../protocol/chain/record.ts';
import { hashText, writeSha256 } from '../../../protocol/hash.ts';
import { nodeId, recordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { StatementError } from '../../../protocol/statement/statement.ts';
import { RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';

const HASH = writeSha256(new Uint8Array(32).fill(7));
const FIELDS: Omit<AttestationRecord, 'body' | 'v'> = {
  id: recordId('att_eu_01KAAAAAAAAAAAAAAAAAAAAAAA'),
  kind: 'decision',
  node: nodeId('eu'),
  seq: 12,
  submittedAt: timestampOf(Date.UTC(2026, 6, 1)),
  account: 'acc_eu_acme',
  sourceId: 'loans',
  sourceSeq: 3,
  sourcePrev: HASH,
  payloadHash: HASH,
  claims: { channel: 'direct', modelId: 'scorer' },
  links: {},
};
const { record, texts } = makeRecord(nativeSuite, FIELDS);

test('a record is written as a head and a body, and read back as itself', () => {
  assert.equal(Object.keys(parseHead()), ['body', 'id', 'kind', 'node', 'seq', 'submittedAt', 'v']);
  assert.equal(writeRecord(nobleSuite, FIELDS), texts);
  for (const suite of [nativeSuite, nobleSuite]) assert.equal(openRecord(suite, texts), record);
  assert.equal(record, { ...FIELDS, v: 2, body: hashText(nativeSuite, texts.body) });
});

test('the head says nothing of whose a record is, what it claims or what it is linked to', () => {
  for (const told of ['acc_eu_acme', 'loans', 'scorer', HASH]) assert.not(texts.head.includes(told), told);
});

test('the leaf is the SHA-256 of a zero byte and the head, whatever the body', () => {
  const expected = createHash('sha256').update(Uint8Array.of(0)).update(texts.head).digest('hex');
  for (const suite of [nativeSuite, nobleSuite]) {
    assert.is(Buffer.from(recordLeaf(suite, texts.head)).toString('hex'), expected);
  }
});

test('whatever members are given in whatever order, both texts are canonical and belong together', () => {
  const claims = fc.record({ modelId: fc.string({ unit: 'grapheme' }), matched: fc.boolean() }, { requiredKeys: [] });
  fc.assert(
    fc.property(claims, fc.constantFrom(...RECORD_KINDS), fc.integer({ min: 1, max: 2 ** 40 }), (some, kind, seq) => {
      const fields = { ...FIELDS, claims: { channel: 'tiered' as const, ...some }, kind, seq };
      const made = makeRecord(nativeSuite, fields);
      assert.is(canonicalize(parseJson(made.texts.head)), made.texts.head);
      assert.is(canonicalize(parseJson(made.texts.body)), made.texts.body);
      assert.ok(namesBody(nativeSuite, made.texts));
      assert.equal(openRecord(nativeSuite, made.texts), made.record);
    }),
    { numRuns: 300 },
  );
});

test('a changed character of either text is another record, or none', () => {
  for (const half of ['head', 'body'] as const) {
    const text = texts[half];
    for (let at = 0; at < text.length; at++) {
      const flipped = String.fromCharCode(text.charCodeAt(at) ^ 1);
      const changed = { ...texts, [half]: text.slice(0, at) + flipped + text.slice(at + 1) };
      try {
        openRecord(nativeSuite, changed);
        assert.is(half, 'head', `byte ${at} of the body`);
        assert.not.equal(recordLeaf(nativeSuite, changed.head), recordLeaf(nativeSuite, texts.head));
      } catch (error) {
        assert.instance(error, StatementError, `byte ${at} of the ${half}`);
      }
    }
  }
});

test('what is no head of a record is refused', () => {
  const wrong = [
    '',
    '{}',
    ` ${texts.head}`,
    texts.head.replace('"v":2', '"v":1'),
    texts.head.replace('"seq":12', '"seq":0'),
    texts.head.replace('"decision"', '"decisions"'),
    texts.head.replace('"node":"eu"', '"node":"us"'),
    texts.head.replace('"kind"', '"extra":1,"kind"'),
    texts.head.replace('07-01', '02-30'),
  ];
  for (const text of wrong) assert.throws(() => readHead(text), isRefusal, text);
});

test('a body is read only under the head that names it', () => {
  const named = (text: string) => readBody(nativeSuite, { body: hashText(nativeSuite, text) }, text);
  assert.is(named(texts.body).sourceSeq, 3);
  assert.throws(() => readBody(nativeSuite, { body: HASH }, texts.body), isRefusal);
  assert.not(namesBody(nativeSuite, { ...texts, body: `${texts.body} ` }));
  const wrong = [
    '',
    '{}',
    `${texts.body} `,
    texts.body.replace('"sourceSeq":3', '"sourceSeq":1'),
    texts.body.replace(`"sourcePrev":"${HASH}"`, '"sourcePrev":null'),
    texts.body.replace('"links":{}', '"links":{},"more":1'),
    texts.body.replace('"channel":"direct"', '"channel":"sideways"'),
  ];
  for (const text of wrong) assert.throws(() => named(text), isRefusal, text);
  assert.throws(() => readBody(nativeSuite, { body: HASH }, '\ud800'), isRefusal);
});

test('a text that is longer, or has more in it, than any record is refused before it is parsed', () => {
  const many = `[${'0,'.repeat(1 << 17)}0]`;
  assert.throws(() => readHead(many), /record head: is longer than any/);
  assert.throws(() => readHead(` ${texts.head}`.padEnd(1_025)), /record head: is longer than any/);
  const body = (text: string) => readBody(nativeSuite, { body: hashText(nativeSuite, text) }, text);
  assert.throws(() => body(many), /record body: has more members and items than any/);
  assert.throws(() => body(`[${'0,'.repeat((1 << 17) - 1)}0]`), /record body: (?!has more)/);
});

test('nodes and version are claims', () => {
  const claims: Claims = { channel: 'direct', nodes: [nodeId('eu'), nodeId('us')], version: 2 };
  const account = { ...FIELDS, kind: 'account' as const, claims };
  assert.equal(openRecord(nativeSuite, writeRecord(nativeSuite, account)).claims, claims);
  const empty = writeRecord(nativeSuite, { ...account, claims: { ...claims, nodes: [] } });
  assert.throws(() => openRecord(nativeSuite, empty), isRefusal);
});

function parseHead(): object {
  const value: unknown = JSON.parse(texts.head);
  return typeof value === 'object' && value !== null ? value : {};
}

function isRefusal(error: unknown): boolean {
  return error instanceof StatementError;
}

test.run();
