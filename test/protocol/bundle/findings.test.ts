import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { parseBundle } from '../../../protocol/bundle/bundle.ts';
import type { Finding, Verdict } from '../../../protocol/bundle/verdict.ts';
import { verifyBundle } from '../../../protocol/bundle/verify.ts';
import { hashText } from '../../../protocol/hash.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { isJsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import type { Cosignature } from '../../../protocol/statement/cosignature.ts';
import { type Group, groupStatement } from '../../../protocol/statement/group.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { cosign, type SealOptions } from '../../fixtures/federation-batch.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { anchorOf, consensusOf } from '../../fixtures/federation-topic.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { INITIAL_RUNNING_HASH } from '../../../protocol/ledger/running-hash.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { replaceAt } from './json-places.ts';

type Code = `${Finding['check']} ${Finding['code']}`;

const GENESIS_EPOCH_MS = Date.UTC(2026, 0, 1);

const federation = await TestFederation.create({ signerOf: nativeSigner });
const batch = await federation.sealBatch('eu', [{}, {}, {}, {}, {}]);
const eu = federation.member('eu');
const whole = batch.bundleFor(1);
const other = batch.bundleFor(2);
const group = groupStatement.parse(whole.receipt.statement);
const roster = writeLedgerMessage({
  v: 2,
  type: 'roster',
  federation: federation.chain.genesis,
  previous: federation.chain.genesis,
  statement: batch.hash,
});

/** What is wrong, and signed well where it is signed; the bundle that has it; and the findings that must come of it. */
const cases: readonly (readonly [string, JsonValue, readonly Code[]])[] = [
  [
    'a record that is not canonical',
    put('/record/head', whole.record.head.replace(',', ', ')),
    ['leafRederived record-malformed'],
  ],
  ['a record with an unknown member', recordWith({ extra: 1 }), ['leafRederived record-malformed']],
  ['a record with the body of another', put('/record/body', other.record.body), ['leafRederived record-malformed']],
  ['a record that names no body', recordWith({ body: 'x' }), ['leafRederived record-malformed']],
  [
    'a record under the id of another node',
    recordWith({ id: federation.records('us').append({}, timestampOf(GENESIS_EPOCH_MS)).record.id }),
    ['leafRederived record-malformed'],
  ],
  [
    'a record of another kind',
    recordWith({ kind: 'incident' }),
    ['proofWalk path-to-group', 'proofWalk path-to-batch'],
  ],
  ['a record with a prototype', recordWith(JSON.parse('{"__proto__":{}}')), ['leafRederived record-malformed']],
  [
    'a record of no real day',
    recordWith({ submittedAt: '2026-02-30T00:00:00.000Z' }),
    ['leafRederived record-malformed'],
  ],
  [
    'a first record that names one before',
    recordWith({ sourceSeq: 1, sourcePrev: group.root }),
    ['leafRederived record-malformed'],
  ],
  [
    'a later record that names none before',
    recordWith({ sourceSeq: 9, sourcePrev: null }),
    ['leafRederived record-malformed'],
  ],
  [
    'a record of another account',
    recordWith({ account: 'acc_else' }),
    ['proofWalk path-to-group', 'proofWalk path-to-batch'],
  ],
  ['another payload', put('/disclosure/payload', { a: 1 }), ['payloadHashMatch payload-mismatch']],
  ['another salt', put('/disclosure/salt', other.disclosure?.salt), ['payloadHashMatch payload-mismatch']],
  ['a salt of 16 bytes', put('/disclosure/salt', 'A'.repeat(22)), ['payloadHashMatch disclosure-malformed']],
  ['a salt with stray bits', put('/disclosure/salt', 'A'.repeat(42) + 'B'), ['payloadHashMatch disclosure-malformed']],
  [
    'a step too many to the group',
    put('/receipt/path', [...whole.receipt.path, group.root]),
    ['proofWalk path-to-group'],
  ],
  ['a step too few to the batch', put('/batch/path/0', undefined), ['proofWalk path-to-batch']],
  ['the path of another record', put('/batch/path', other.batch?.path), ['proofWalk path-to-batch']],
  [
    'a receipt that is not canonical',
    put('/receipt/statement', `${whole.receipt.statement} `),
    ['bundleBinding statement-malformed'],
  ],
  [
    'a receipt signed on no real day',
    await receiptWith({ signedAt: '2026-01-32T00:00:00.000Z' }),
    ['bundleBinding statement-malformed'],
  ],
  [
    'a receipt of another node',
    await receiptWith({ node: 'us' }),
    ['bundleBinding node-mismatch', 'bundleBinding node-mismatch', 'sigValid key-unknown'],
  ],
  [
    'a receipt for other records',
    await receiptWith({ first: 4, size: 2 }),
    ['proofWalk path-to-group', 'bundleBinding range-mismatch'],
  ],
  [
    'a receipt beyond the batch',
    await receiptWith({ size: 6 }),
    ['proofWalk path-to-group', 'bundleBinding range-mismatch'],
  ],
  ['a receipt with another root', await receiptWith({ root: batch.envelope.root }), ['proofWalk path-to-group']],
  [
    'a receipt older than its key',
    await receiptWith({ signedAt: timestampOf(GENESIS_EPOCH_MS - 1) }),
    ['sigValid key-not-valid'],
  ],
  [
    'a receipt signed as an envelope',
    put('/receipt/signature', whole.batch?.signature),
    ['sigValid signature-invalid'],
  ],
  ['an envelope signed as a receipt', put('/batch/signature', whole.receipt.signature), ['sigValid signature-invalid']],
  ['no certificate of the origin', put('/keys/1', undefined), ['sigValid key-unknown', 'sigValid key-unknown']],
  ['a first batch that names one before', await sealedWith({ prev: batch.hash }), ['bundleBinding range-mismatch']],
  ['a later batch that names none before', await sealedWith({ batch: 7 }), ['bundleBinding range-mismatch']],
  [
    'an anchor of other content',
    anchoredAs(batch.anchor.message.replace('"batch":1', '"batch":2')),
    ['bundleBinding anchor-mismatch'],
  ],
  [
    'an anchor of another federation',
    anchoredAs(batch.anchor.message.replace(federation.chain.genesis, batch.hash)),
    ['bundleBinding anchor-mismatch'],
  ],
  ['an anchor that is no anchor message', anchoredAs('hello'), ['bundleBinding anchor-malformed']],
  ['an anchor of a roster', anchoredAs(roster), ['bundleBinding anchor-mismatch']],
  ['an anchor on another network', put('/anchor/network', 'mainnet'), ['bundleBinding ledger-mismatch']],
  [
    'an anchor on another topic',
    put('/anchor/topicId', '0.0.1002'),
    ['bundleBinding ledger-mismatch', 'bundleBinding running-hash-mismatch'],
  ],
  [
    'an anchor at another time',
    put('/anchor/consensusTimestamp', consensusOf(federation.now)),
    ['bundleBinding running-hash-mismatch'],
  ],
  ['an anchor without a batch', put('/cosignatures', [], put('/batch', null)), ['bundleBinding anchor-mismatch']],
  ['cosignatures without a batch', put('/anchor', null, put('/batch', null)), ['bundleBinding cosignature-mismatch']],
  ['a cosignature of another batch', await cosignedWith('us', { batch: 2 }), ['bundleBinding cosignature-mismatch']],
  [
    'a cosignature of another envelope',
    await cosignedWith('us', { envelope: group.root }),
    ['bundleBinding cosignature-mismatch'],
  ],
  ['a cosignature twice', put('/cosignatures/1', whole.cosignatures[0]), ['bundleBinding cosignature-doubled']],
  ['a cosignature by the origin', await cosignedWith('eu', {}), ['bundleBinding witness-unknown']],
  [
    'a cosignature in the name of a stranger',
    await cosignedWith('us', { witness: 'zz' }),
    ['bundleBinding witness-unknown', 'sigValid key-unknown'],
  ],
  [
    'a cosignature in the name of another',
    await cosignedWith('us', { witness: 'ca' }),
    ['bundleBinding cosignature-doubled', 'sigValid key-unknown'],
  ],
  ['a roster that a founder did not sign', put('/rosters/0/signatures/0', undefined), ['sigValid roster-invalid']],
];

for (const [what, changed, expected] of cases) {
  test(`${what}: ${expected.join(', ')}`, () => {
    const verdict = verifyBundle(nativeSuite, parseBundle(parseJson(JSON.stringify(changed))));
    assert.equal(codesOf(verdict), expected);
    assert.is(verdict.verified, false);
    for (const { check } of verdict.problems) assert.is(verdict.checks[check], false);
    const onlyPayload = expected.every((code) => code.startsWith('payloadHashMatch'));
    assert.is(verdict.witnessed, onlyPayload);
  });
}

test('a certificate of an agent key signs no receipt', async () => {
  const signer = nativeSigner(seedOf('agent'));
  const terms = { validFrom: group.signedAt, seqFrom: 1, purpose: 'agent' } as const;
  const agent = await certifyKey(eu.node, eu.identity, signer, terms);
  const receipt = await signStatement(groupStatement, { ...group, keyId: signer.keyId }, signer);
  const bundle = { ...whole, receipt: { ...whole.receipt, ...receipt }, keys: [...whole.keys, agent.signed] };
  assert.equal(codesOf(verifyBundle(nativeSuite, bundle)), ['sigValid key-not-valid']);
});

test('a certificate signed by another member is refused', async () => {
  const terms = { validFrom: group.signedAt, seqFrom: 1 };
  const forged = await certifyKey(eu.node, federation.member('us').identity, nativeSigner(seedOf('forged')), terms);
  const bundle = { ...whole, keys: [...whole.keys, forged.signed] };
  assert.equal(codesOf(verifyBundle(nativeSuite, bundle)), ['sigValid certificate-invalid']);
});

test('what is not there is not confirmed', () => {
  const status = (bundle: JsonValue) => verifyBundle(nativeSuite, parseBundle(bundle)).status;
  assert.is(status(parseJson(JSON.stringify(whole))), 'confirmed');
  assert.is(status(put('/anchor/network', 'mainnet')), 'pending');
});

/** The complete bundle with another value at one place. */
function put(pointer: string, value: JsonValue | undefined, bundle: JsonValue = whole): JsonValue {
  return replaceAt(bundle, pointer, value);
}

/** With other members in its record, whose texts stay canonical and belong together, unless `body` itself is another. */
function recordWith(change: Readonly<Record<string, JsonValue>>): JsonValue {
  const [head, rest] = [parseJson(whole.record.head), parseJson(whole.record.body)];
  assert.ok(isJsonObject(head) && isJsonObject(rest));
  const ofHead = Object.entries(change).filter(([name]) => Object.hasOwn(head, name));
  const ofBody = Object.entries(change).filter(([name]) => !Object.hasOwn(head, name));
  const body = canonicalize({ ...rest, ...Object.fromEntries(ofBody) });
  const named = { ...head, body: hashText(nativeSuite, body), ...Object.fromEntries(ofHead) };
  return put('/record', { head: canonicalize(named), body });
}

/** With a receipt that the origin signed with other members in it. */
async function receiptWith(change: { readonly [Member in keyof Group]?: string | number }): Promise<JsonValue> {
  const receipt = await signStatement(groupStatement, { ...group, ...change } as Group, eu.key.signer);
  return put('/receipt', { ...whole.receipt, ...receipt });
}

/** A bundle of another federation's only batch, sealed, cosigned and anchored with other members in its envelope. */
async function sealedWith(envelope: SealOptions['envelope'] & object): Promise<JsonValue> {
  const another = await TestFederation.create({ signerOf: nativeSigner });
  return (await another.sealBatch('eu', [{}, {}], { envelope })).bundleFor(0);
}

/** With another message, and a ledger that vouches for it. */
function anchoredAs(message: string): JsonValue {
  const { consensusTimestamp } = batch.anchor;
  const at = { sequence: 1, consensusTimestamp, previous: Uint8Array.from(INITIAL_RUNNING_HASH) };
  return put('/anchor', anchorOf(federation.topic, message, at).anchor);
}

/** With a cosignature by `node`, with other members in it, as the first. */
async function cosignedWith(
  node: string,
  change: { readonly [Member in keyof Cosignature]?: string | number },
): Promise<JsonValue> {
  const signed = await cosign(
    federation,
    federation.member(node),
    batch.envelope,
    batch.signed,
    change as Partial<Cosignature>,
  );
  return put('/cosignatures/0', signed);
}

function codesOf({ problems }: Verdict): readonly string[] {
  return problems.map(({ check, code }) => `${check} ${code}`);
}

test.run();
