import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { homeOf } from '../../../protocol/accounts/account-id.ts';
import { isKeyId, type KeyId } from '../../../protocol/accounts/key-id.ts';
import { refusalSource, refusedKeyOf } from '../../../protocol/accounts/refused-key.ts';
import {
  type AccountStatement,
  readAccountStatement,
  writeAccountStatement,
} from '../../../protocol/accounts/statement.ts';
import { lowerTier } from '../../../protocol/accounts/tier.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { StatementError } from '../../../protocol/statement/statement.ts';

const test = suite('account statement');

const KEY = keyId('key_eu_01KAJ7D3V6M9P2C5F8HRXT4QEB');
const STATEMENT: AccountStatement = {
  account: 'acc_eu_ada',
  keys: [
    {
      addresses: ['203.0.113.0/24'],
      expiresAt: null,
      from: null,
      hash: writeSha256(new Uint8Array(32).fill(0xab)),
      id: KEY,
      scopes: ['attest:write'],
      sources: null,
      to: null,
    },
  ],
  nodes: [nodeId('eu'), nodeId('us')],
  tier: 'standard',
  version: 3,
};

test('is read as it was written', () => {
  assert.equal(readAccountStatement(writeAccountStatement(STATEMENT)), STATEMENT);
});

test('is refused with a member more, a key twice, a node twice, none, or no version', () => {
  const [key] = STATEMENT.keys;
  const bad = [
    writeAccountStatement({ ...STATEMENT, keys: [...STATEMENT.keys, ...STATEMENT.keys] }),
    writeAccountStatement({ ...STATEMENT, nodes: [nodeId('eu'), nodeId('eu')] }),
    writeAccountStatement({ ...STATEMENT, nodes: [] }),
    writeAccountStatement({ ...STATEMENT, version: 0 }),
    writeAccountStatement({ ...STATEMENT, account: 'ada' }),
    writeAccountStatement(STATEMENT).replace('"version"', '"until":null,"version"'),
    ` ${writeAccountStatement(STATEMENT)}`,
  ];
  assert.ok(key);
  for (const text of bad) {
    assert.throws(
      () => readAccountStatement(text),
      (error: unknown) => error instanceof StatementError,
    );
  }
});

test('a key may stand once only, by its id and by its hash', () => {
  const [key] = STATEMENT.keys;
  assert.ok(key);
  const other = { ...key, id: keyId('key_eu_01KAJ7D3V6M9P2C5F8HRXT4QEC') };
  assert.throws(() => readAccountStatement(writeAccountStatement({ ...STATEMENT, keys: [key, other] })), /twice/);
});

test('an account id names its home', () => {
  assert.is(homeOf('acc_eu_ada'), 'eu');
  assert.is(homeOf('acc_us2_ada-2'), 'us2');
  for (const text of ['acc_eu_', 'acc_EU_ada', 'eu_ada', 'acc_eu_a/b', '']) assert.is(homeOf(text), undefined);
});

test('the lower of two tiers is the one that allows less', () => {
  assert.is(lowerTier('unmetered', 'professional'), 'professional');
  assert.is(lowerTier('developer', 'professional'), 'developer');
});

test('a refusal names its key in its source', () => {
  const sourceId = refusalSource(KEY);
  assert.is(refusedKeyOf({ kind: 'account_key_refused', sourceId }), KEY);
  assert.is(refusedKeyOf({ kind: 'decision', sourceId }), undefined);
  assert.is(refusedKeyOf({ kind: 'account_key_refused', sourceId: 'meridian/refused/nothing' }), undefined);
});

test.run();

function keyId(text: string): KeyId {
  if (!isKeyId(text)) throw new TypeError(text);
  return text;
}
