import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountError } from '../../../../node/accounts/account-error.ts';
import { KeyRefusals } from '../../../../node/accounts/elsewhere/key-refusals.ts';
import { KnownKeys } from '../../../../node/accounts/known-keys.ts';
import type { StatedKey } from '../../../../protocol/accounts/statement.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { until } from '../../../fixtures/until.ts';
import { ADA, ElsewhereFixture, EU, keyId, statedKey, statement, textOf, US } from './elsewhere-fixture.ts';

const test = suite('keys of accounts of other nodes');

const NOW = Date.UTC(2026, 10, 25);
const at = (ms: number) => timestampOf(NOW + ms);

function knownKeys(elsewhere: ElsewhereFixture, now: () => number = () => NOW): KnownKeys {
  return new KnownKeys(
    elsewhere.store,
    now,
    () => assert.unreachable('no use of them is noted here'),
    elsewhere.foreign,
  );
}

/** Refusals that this node makes, each a record of its own. */
function refusals(elsewhere: ElsewhereFixture): KeyRefusals {
  return new KeyRefusals({
    store: elsewhere.store,
    foreign: elsewhere.foreign,
    record: async ({ kind, account, sourceId }) => {
      const batch = await elsewhere.make(US, { kind, account, sourceId });
      await elsewhere.hold(batch);
      const [made] = batch.records;
      if (made === undefined) throw new Error('no record was made');
      return { record: made.record };
    },
    onChange: () => {},
    now: () => NOW,
  });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof AccountError) return error.code;
      throw error;
    },
  );
}

/** A elsewhere where these keys are in force. */
async function withKeys(...keys: readonly StatedKey[]): Promise<ElsewhereFixture> {
  const elsewhere = await ElsewhereFixture.open();
  await elsewhere.take(statement(1, keys, { nodes: [EU, US] }));
  await until('the statement', async () => (await elsewhere.held()).length === 1);
  return elsewhere;
}

test('what the home states of a key binds it here: scopes, sources, period, addresses and end', async () => {
  const [from, to, expiresAt] = [at(-2_000), at(-1_000), at(1_000)];
  const limits = { sources: ['triage'], from, to, addresses: ['192.0.2.0/24'], expiresAt };
  const bound = statedKey('a', { scopes: ['proof:read'], ...limits });
  await using elsewhere = await withKeys(
    bound,
    statedKey('b', { addresses: ['192.0.2.1', 'anywhere'] }),
    statedKey('c'),
  );
  let now = NOW;
  const keys = knownKeys(elsewhere, () => now);
  const found = await keys.authenticate(textOf('a'));
  if (typeof found === 'string') throw new Error(found);
  const { caller, addresses } = found;
  assert.equal(caller, {
    account: { id: ADA, tier: 'standard' },
    key: { id: bound.id, scopes: ['proof:read'], sources: ['triage'], from, to },
    home: EU,
  });
  assert.equal(
    ['192.0.2.7', '192.0.3.7', '127.0.0.1'].map((address) => addresses?.admits(address)),
    [true, false, false],
  );
  const unreadable = await keys.authenticate(textOf('b'));
  assert.is(
    typeof unreadable !== 'string' && unreadable.addresses?.admits('192.0.2.1'),
    false,
    'a list that does not read',
  );
  const free = await keys.authenticate(textOf('c'));
  assert.is(typeof free !== 'string' && free.addresses, null);
  now = NOW + 1_000;
  assert.is(await keys.authenticate(textOf('a')), 'expired');
});

test('a key of the newest version has the text that the last decided one states, or waits until it is decided', async () => {
  await using elsewhere = await withKeys(statedKey('a'));
  const second = await elsewhere.version(statement(2, [statedKey('b', { id: keyId('a') })], { nodes: [EU, US] }));
  await elsewhere.hold(second);
  await until('the second to be held', async () => (await elsewhere.held()).length === 2);
  assert.equal([await elsewhere.word(textOf('a')), await elsewhere.word(textOf('b'))], ['ended', 'unknown']);
  elsewhere.decide(second);
  await until('it to be in force', async () => (await elsewhere.word(textOf('b'))) === 'valid');
});

test('a decided version that leaves this node out ends its keys here, until one that names it again is decided too', async () => {
  await using elsewhere = await withKeys(statedKey('a'));
  await elsewhere.take(statement(2, [statedKey('a')], { nodes: [EU] }));
  assert.is(await elsewhere.word(textOf('a')), 'unknown');
  const third = await elsewhere.version(statement(3, [statedKey('a')], { nodes: [EU, US] }));
  await elsewhere.hold(third);
  await until('the third to be held', async () => (await elsewhere.held()).includes(3));
  assert.is(await elsewhere.word(textOf('a')), 'unknown', 'named by a version that is not decided');
  elsewhere.decide(third);
  await until('it to be in force', async () => (await elsewhere.word(textOf('a'))) === 'valid');
});

test('a key refuses itself and what reaches no further than it does, and nothing else', async () => {
  const bound = statedKey('d', { sources: ['triage'] });
  const poor = statedKey('e', { scopes: ['proof:read'] });
  const [small, whole] = [statedKey('f', { sources: ['triage'], scopes: ['attest:write'] }), statedKey('g')];
  await using elsewhere = await withKeys(bound, poor, small, whole);
  const made = refusals(elsewhere);
  for (const maker of [bound, poor]) {
    assert.is(await codeOf(made.refuse(ADA, whole.id, maker.id)), 'beyond-maker');
    assert.is(await elsewhere.word(textOf('g')), 'valid');
  }
  assert.is(await codeOf(made.refuse(ADA, small.id, bound.id)), 'done');
  assert.is(await codeOf(made.refuse(ADA, poor.id, poor.id)), 'done');
  assert.equal([await elsewhere.word(textOf('f')), await elsewhere.word(textOf('e'))], ['refused', 'refused']);
  assert.is(await codeOf(made.refuse(ADA, keyId('z'), whole.id)), 'key-not-found');
  assert.is(await codeOf(made.refuse('acc_eu_eve', whole.id, whole.id)), 'maker-ended');
});

test('a key that was refused refuses no other any more, and one that is not decided yet refuses none', async () => {
  const [thief, whole, fresh] = [statedKey('h'), statedKey('g'), statedKey('k')];
  await using elsewhere = await withKeys(thief, whole);
  const made = refusals(elsewhere);
  const { revokedAt } = await made.refuse(ADA, thief.id, whole.id);
  assert.is(await codeOf(made.refuse(ADA, whole.id, thief.id)), 'maker-ended');
  assert.is(await elsewhere.word(textOf('g')), 'valid');
  assert.is((await made.refuse(ADA, thief.id, whole.id)).revokedAt, revokedAt, 'once for all');
  await elsewhere.hold(await elsewhere.version(statement(2, [thief, whole, fresh], { nodes: [EU, US] })));
  await until('the second to be held', async () => (await elsewhere.held()).length === 2);
  assert.is(await codeOf(made.refuse(ADA, whole.id, fresh.id)), 'maker-ended');
});

test.run();
