import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { MAX_MESSAGE_BYTES, parseLedgerMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope, nameStatement } from '../../../protocol/log/naming.ts';
import { StatementError } from '../../../protocol/statement/statement.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const federation = await TestFederation.create({ nodes: ['eu', 'us'], signerOf: nativeSigner });
const { genesis } = federation.chain;
const { envelope, signed } = await federation.sealBatch('eu', [{}]);
const roster = federation.addRoster({ name: 'second' });
const revocation = await federation.revokeKey('eu');
const isStatementError = (error: unknown) => error instanceof StatementError;

test('a batch message names the federation, and the envelope by its hash, number and key', () => {
  const message = nameEnvelope(nativeSuite, genesis, envelope, signed.statement);
  const hash = hashText(nativeSuite, signed.statement);
  const text = `{"batch":1,"envelope":"${hash}","federation":"${genesis}","keyId":"${envelope.keyId}","node":"eu","type":"batch","v":2}`;
  assert.is(writeLedgerMessage(message), text);
  assert.equal(parseLedgerMessage(text), message);
});

test('a roster message names what the roster follows, a revocation message the key', () => {
  const named = [
    nameStatement(nativeSuite, genesis, { type: 'roster', text: roster }),
    nameStatement(nativeSuite, genesis, { type: 'revocation', text: revocation.statement }),
  ];
  const [first, second] = [roster, revocation.statement].map((text) => hashText(nativeSuite, text));
  const { keyId } = federation.member('eu').key.signer;
  assert.equal(named.map(writeLedgerMessage), [
    `{"federation":"${genesis}","previous":"${genesis}","statement":"${first}","type":"roster","v":2}`,
    `{"federation":"${genesis}","keyId":"${keyId}","node":"eu","statement":"${second}","type":"revocation","v":2}`,
  ]);
  for (const message of named) {
    const text = writeLedgerMessage(message);
    assert.ok(text.length <= MAX_MESSAGE_BYTES);
    assert.equal(parseLedgerMessage(text), message);
  }
});

test('nothing names a genesis roster, or a text of another kind', () => {
  const [first] = federation.rosters;
  for (const [type, text] of [
    ['roster', first ?? ''],
    ['roster', revocation.statement],
    ['revocation', roster],
    ['revocation', '{}'],
  ] as const) {
    assert.throws(() => nameStatement(nativeSuite, genesis, { type, text }), isStatementError);
  }
});

test('a message of the first form, of another type or with a short federation is none', () => {
  const text = writeLedgerMessage(nameEnvelope(nativeSuite, genesis, envelope, signed.statement));
  for (const other of [
    text.replace('"v":2', '"v":1'),
    text.replace('"type":"batch"', '"type":"key"'),
    text.replace(genesis, federation.chain.digest),
    text.replace('{', '{"a":1,'),
    ` ${text}`,
  ]) {
    assert.throws(() => parseLedgerMessage(other), isStatementError, other);
  }
});

test.run();
