import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import {
  commit,
  commitDecision,
  commitText,
  type DecisionHashes,
  decisionTexts,
  payloadMatches,
  payloadTextMatches,
} from '../../../protocol/payload/commitment.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { fc } from '../../fixtures/properties.ts';

const salt = Uint8Array.from({ length: 32 }, (_, i) => i);
const otherSalt = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
const data = { input: { age: 40 }, output: 'yes', extra: 1 };
const payload = { sourceId: 'loans', data };

test('a commitment is SHA-256 of word, zero byte, salt and canonical text', () => {
  const preimage = concatBytes(utf8('meridian/payload/1'), Uint8Array.of(0), salt, utf8('{"a":1,"b":[]}'));
  assert.is(commit(nobleSuite, 'meridian/payload/1', salt, { b: [], a: 1 }), writeSha256(nobleSuite.sha256(preimage)));
});

test('another word, salt or value is another commitment; another order of members is the same', () => {
  const base = commit(nobleSuite, 'meridian/payload/1', salt, payload);
  assert.is(commit(nobleSuite, 'meridian/payload/1', salt, { data, sourceId: 'loans' }), base);
  assert.is.not(commit(nobleSuite, 'meridian/data/1', salt, payload), base);
  assert.is.not(commit(nobleSuite, 'meridian/payload/1', otherSalt, payload), base);
  assert.is.not(commit(nobleSuite, 'meridian/payload/1', salt, { ...payload, more: null }), base);
});

test('a salt of another length is refused', () => {
  for (const length of [0, 31, 33]) {
    assert.throws(
      () => commit(nobleSuite, 'meridian/payload/1', new Uint8Array(length), payload),
      (error: unknown) => error instanceof RangeError,
    );
  }
});

test('input and output are what the decision calls so, or all of it and its decision', () => {
  const hashes = (decision: JsonObject) => commitDecision(nobleSuite, salt, decisionTexts(decision));
  const of = (word: Parameters<typeof commit>[1], value: JsonValue) => commit(nobleSuite, word, salt, value);
  assert.equal(hashes(data), {
    dataHash: of('meridian/data/1', data),
    inputHash: of('meridian/input/1', data.input),
    outputHash: of('meridian/output/1', data.output),
  });
  assert.equal(hashes({ decision: 'no' }), {
    dataHash: of('meridian/data/1', { decision: 'no' }),
    inputHash: of('meridian/input/1', { decision: 'no' }),
    outputHash: of('meridian/output/1', 'no'),
  });
  assert.equal(Object.keys(hashes({ score: 1 })), ['dataHash', 'inputHash']);
});

test('a disclosed payload matches its record, and each claimed part is checked', () => {
  const payloadHash = commit(nobleSuite, 'meridian/payload/1', salt, payload);
  const claims = commitDecision(nobleSuite, salt, decisionTexts(data));
  const matches = (committed: Parameters<typeof payloadMatches>[1], value: JsonValue = payload, key = salt) => {
    const asText = payloadTextMatches(nobleSuite, committed, key, canonicalize(value));
    assert.is(payloadMatches(nobleSuite, committed, key, value), asText);
    return asText;
  };
  assert.ok(matches({ payloadHash, claims }));
  assert.ok(matches({ payloadHash, claims: {} }));
  assert.not(matches({ payloadHash, claims }, { ...payload, data: { ...data, extra: 2 } }));
  assert.not(matches({ payloadHash, claims }, payload, otherSalt));
  for (const part of ['dataHash', 'inputHash', 'outputHash'] as const) {
    assert.not(matches({ payloadHash, claims: { ...claims, [part]: payloadHash } }), part);
    const { [part]: _, ...others } = claims;
    assert.not(matches({ payloadHash, claims: others }), `without ${part}`);
  }
  const plain = commit(nobleSuite, 'meridian/payload/1', salt, 'text');
  assert.not(matches({ payloadHash: plain, claims }, 'text'));
});

test('the answer to a query that it does not hold is bound to the hash of it', () => {
  const queryHash = commit(nobleSuite, 'meridian/input/1', salt, 'a name');
  const answer = { queryHash, result: 'no-match' };
  const matches = (claims: DecisionHashes, value: JsonObject = answer): boolean => {
    const payloadHash = commit(nobleSuite, 'meridian/payload/1', salt, value);
    const asText = payloadTextMatches(nobleSuite, { payloadHash, claims }, salt, canonicalize(value));
    assert.is(payloadMatches(nobleSuite, { payloadHash, claims }, salt, value), asText);
    return asText;
  };
  assert.ok(matches({ inputHash: queryHash }));
  assert.not(matches({ inputHash: commit(nobleSuite, 'meridian/input/1', salt, 'another name') }));
  assert.not(matches({ inputHash: queryHash }, { result: 'no-match' }));
  assert.not(matches({ inputHash: queryHash, outputHash: queryHash }));
  assert.not(
    matches({ inputHash: queryHash }, { ...answer, data: { input: 'a name' } }),
    'a decision has its own rule',
  );
});

test('a payload and its canonical text match the same, whatever the payload', () => {
  const member = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom('input', 'output', 'decision', '"', 'x'), fc.jsonValue()),
  );
  const anyPayload = fc.dictionary(fc.constantFrom('data', 'queryHash', 'sourceId', '10', '9'), member);
  fc.assert(
    fc.property(anyPayload, fc.subarray(['dataHash', 'inputHash', 'outputHash']), (made, claimed) => {
      const value = JSON.parse(JSON.stringify(made)) as JsonObject;
      const payloadHash = commit(nobleSuite, 'meridian/payload/1', salt, value);
      const own = value['data'];
      const all = commitDecision(nobleSuite, salt, decisionTexts(isJsonObject(own) ? own : {}));
      const claims = Object.fromEntries(Object.entries(all).filter(([name]) => claimed.includes(name)));
      const committed = { payloadHash, claims };
      assert.is(
        payloadTextMatches(nobleSuite, committed, salt, canonicalize(value)),
        payloadMatches(nobleSuite, committed, salt, value),
      );
    }),
  );
});

test('a text that is not canonical matches nothing, though it was hashed', () => {
  const text = '{"b":1,"a":2}';
  const payloadHash = commitText(nobleSuite, 'meridian/payload/1', salt, text);
  assert.throws(() => payloadTextMatches(nobleSuite, { payloadHash, claims: {} }, salt, text), /canonical/);
});

test('the text of all of a decision is its canonical text, whatever its members are called', () => {
  const anyObject = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.jsonValue());
  fc.assert(
    fc.property(anyObject, (value) => {
      const decision = JSON.parse(JSON.stringify(value)) as JsonObject;
      const expected = commit(nobleSuite, 'meridian/data/1', salt, decision);
      assert.is(commitDecision(nobleSuite, salt, decisionTexts(decision)).dataHash, expected);
    }),
  );
});

test.run();
