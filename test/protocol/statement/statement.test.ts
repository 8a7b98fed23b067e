import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { keyCertificateStatement } from '../../../protocol/keys/certificate.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { MAX_MESSAGE_BYTES, parseLedgerMessage } from '../../../protocol/log/message.ts';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { encodeSignature, isBase64url, signatureHolds, StatementError } from '../../../protocol/statement/statement.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const KINDS = [
  groupStatement,
  envelopeStatement,
  checkpointStatement,
  keyCertificateStatement,
  revocationStatement,
  rosterStatement,
];

const federation = await TestFederation.create({ signerOf: nativeSigner });
const batch = await federation.sealBatch('eu', [{}]);
const bundle = batch.bundleFor(0);
const isStatementError = (error: unknown) => error instanceof StatementError;

test('every kind of statement is signed in a context of its own', () => {
  assert.is(new Set(KINDS.map(({ context }) => context)).size, KINDS.length);
  const signed = { statement: bundle.receipt.statement, signature: bundle.receipt.signature };
  const { publicKey } = federation.member('eu').key.signer;
  for (const kind of KINDS) assert.is(signatureHolds(nativeSuite, kind, signed, publicKey), kind === groupStatement);
});

test('no text is a statement of two kinds', () => {
  const texts = [batch.signed, ...bundle.keys, federation.genesis, bundle.receipt];
  for (const { statement } of texts) {
    const readable = KINDS.filter((kind) => {
      try {
        kind.parse(statement);
        return true;
      } catch (error) {
        assert.ok(isStatementError(error));
        return false;
      }
    });
    assert.is(readable.length, 1, statement.slice(0, 60));
  }
});

test('a statement is read only in its one canonical spelling', () => {
  const text = batch.signed.statement;
  assert.is(envelopeStatement.write(envelopeStatement.parse(text)), text);
  const others = [
    ` ${text}`,
    text.replace(':', ': '),
    text.replace('"batch":1', '"batch":1.0'),
    text.replace('"batch":1', '"batch":1,"batch":1'),
    text.replace('"eu"', '"\\u0065u"'),
    text.replace('"batch":1', '"batch":0'),
    text.replace('"batch":1', '"batch":9007199254740992'),
    text.replace('"v":2', '"v":1'),
    text.replace('{', '{"a":1,'),
    'null',
    '',
  ];
  for (const other of others) {
    assert.is.not(other, text);
    assert.throws(() => envelopeStatement.parse(other), isStatementError, other);
  }
});

test('a batch’s message fits one ledger transaction, and nothing longer is read', () => {
  assert.ok(batch.anchor.message.length <= MAX_MESSAGE_BYTES);
  const longest = parseLedgerMessage(batch.anchor.message);
  assert.is(longest.type, 'batch');
  const most = { ...longest, node: 'zz99', batch: Number.MAX_SAFE_INTEGER };
  assert.ok(JSON.stringify(most).length <= MAX_MESSAGE_BYTES);
  assert.throws(() => parseLedgerMessage(`"${'a'.repeat(MAX_MESSAGE_BYTES)}"`), isStatementError);
});

test('an empty signature has no text, and signatures of bad text do not hold', () => {
  assert.throws(() => encodeSignature(new Uint8Array()), isStatementError);
  for (const text of ['', 'AA=', 'A+', 'A A']) assert.not(isBase64url(text));
});

test.run();
