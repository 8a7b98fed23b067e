import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountError, type Authentication } from '../../../node/accounts/accounts.ts';
import { MIN_API_KEY_CHARACTERS } from '../../../node/accounts/key-text.ts';
import { SCOPES } from '../../../node/accounts/scopes.ts';
import type { Account } from '../../../node/accounts/account.ts';
import { AccountFixture, refusal } from './account-fixture.ts';

const KEY = 'k'.repeat(MIN_API_KEY_CHARACTERS);

function accountOf(found: Authentication): Account {
  if (typeof found === 'string') throw new Error(`the key is ${found}`);
  return found.caller.account;
}

test('a granted key is its account, at once and after a restart; any other is unknown', async () => {
  await using fixture = await AccountFixture.open();
  assert.is(await fixture.accounts.authenticate(KEY), 'unknown');
  await fixture.accounts.grant({ id: 'acc_eu_acme', tier: 'standard' }, KEY);
  for (let restart = 0; restart < 2; restart++) {
    for (let again = 0; again < 2; again++) {
      const found = await fixture.accounts.authenticate(KEY);
      assert.equal(accountOf(found), { id: 'acc_eu_acme', tier: 'standard', createdAt: '2026-11-21T09:30:00.000Z' });
      if (typeof found === 'string') throw new Error(found);
      assert.equal([found.caller.key.scopes, found.caller.key.sources, found.addresses], [[...SCOPES], null, null]);
      assert.match(found.caller.key.id, /^key_eu_[0-9A-Z]{26}$/);
    }
    assert.is(await fixture.accounts.authenticate(`${KEY} `), 'unknown');
    assert.is(await fixture.accounts.authenticate(''), 'unknown');
    await fixture.reopen();
  }
});

test('granting again changes nothing and tells of nothing; a new tier holds for every key at once', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  const rows = await fixture.rows();
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  assert.equal(await fixture.rows(), rows);
  await accounts.authenticate(KEY);
  await accounts.grant({ id: 'acc_eu_acme', tier: 'enterprise' }, `${KEY}2`);
  assert.is(accountOf(await accounts.authenticate(KEY)).tier, 'enterprise');
  assert.equal(
    fixture.events.map(({ action, account, by }) => `${action} ${account} ${by}`),
    [
      'account.created acc_eu_acme operator',
      'key.created acc_eu_acme operator',
      'tier.changed acc_eu_acme operator',
      'key.created acc_eu_acme operator',
    ],
  );
});

test('payloads are compressed for an account that asks for it, at once for every key, until it is taken back', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  const terms = { id: 'acc_eu_acme', tier: 'standard', compressPayloads: true } as const;
  assert.is((await accounts.create(terms)).compressPayloads, true);
  await accounts.create(terms);
  assert.is(await refusal(accounts.create({ ...terms, compressPayloads: false })), 'account-exists');
  await accounts.grant({ id: 'acc_eu_acme', tier: 'enterprise' }, KEY);
  assert.is(accountOf(await accounts.authenticate(KEY)).compressPayloads, true);
  for (const [compressPayloads, events] of [
    [false, 1],
    [false, 0],
    [true, 1],
  ] as const) {
    const before = fixture.events.length;
    await accounts.setCompression('acc_eu_acme', compressPayloads);
    assert.is(accountOf(await accounts.authenticate(KEY)).compressPayloads, compressPayloads);
    assert.is(fixture.events.length - before, events);
  }
  assert.equal(
    fixture.events
      .filter(({ action }) => action === 'compression.changed')
      .map(({ subject, by }) => `${subject} ${by}`),
    ['off operator', 'on operator'],
  );
  assert.is(await refusal(accounts.setCompression('acc_eu_nobody', true)), 'account-not-found');
});

test('a revoked key stays revoked when it is granted again, and no key changes hands', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  const [key] = await accounts.keys.list('acc_eu_acme');
  await accounts.keys.revoke('acc_eu_acme', key?.id ?? '', 'operator');
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  assert.is(await accounts.authenticate(KEY), 'revoked');
  assert.is(await refusal(accounts.grant({ id: 'acc_eu_globex', tier: 'developer' }, KEY)), 'key-exists');
  assert.is(await accounts.accountStore.account('acc_eu_globex'), undefined);
});

test('an answer read before a change is not remembered after it', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts, store } = fixture;
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  const get = store.get.bind(store);
  const gate = Promise.withResolvers<void>();
  store.get = async (key) => {
    const value = await get(key);
    await gate.promise;
    return value;
  };
  const before = accounts.authenticate(KEY);
  await new Promise((resolve) => setTimeout(resolve, 20));
  store.get = get;
  await accounts.setTier('acc_eu_acme', 'enterprise');
  gate.resolve();
  await before;
  assert.is(accountOf(await accounts.authenticate(KEY)).tier, 'enterprise');
});

test('a change of one account leaves it known whose the key of another is; who asks is read again', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts, store } = fixture;
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  assert.is(accounts.peek(KEY), undefined);
  await accounts.authenticate(KEY);
  await accounts.create({ id: 'acc_eu_globex', tier: 'developer' });
  assert.is(accounts.peek(KEY)?.caller.account.id, 'acc_eu_acme');
  let reads = 0;
  const get = store.get.bind(store);
  store.get = (key) => {
    reads++;
    return get(key);
  };
  await accounts.authenticate(KEY);
  assert.ok(reads > 0);
  reads = 0;
  await accounts.authenticate(KEY);
  assert.is(reads, 0);
});

test('a key that was revoked is nobody’s from its next use on', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  await accounts.authenticate(KEY);
  const [key] = await accounts.keys.list('acc_eu_acme');
  await accounts.keys.revoke('acc_eu_acme', key?.id ?? '', 'operator');
  assert.is(await accounts.authenticate(KEY), 'revoked');
  assert.is(accounts.peek(KEY), undefined);
});

test('weak keys and malformed accounts are refused', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  const refused = [
    accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY.slice(1)),
    accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, `${KEY.slice(1)} `),
    accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, 'k'.repeat(257)),
    accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, `${KEY}é`),
    accounts.grant({ id: 'acc_eu_a/b', tier: 'developer' }, KEY),
    accounts.grant({ id: '', tier: 'developer' }, KEY),
    accounts.grant({ id: 'acc_eu_A', tier: 'developer' }, KEY),
    accounts.grant({ id: `acc_eu_${'a'.repeat(58)}`, tier: 'developer' }, KEY),
    accounts.grant({ id: 'acme', tier: 'developer' }, KEY),
    accounts.grant({ id: 'acc_acme', tier: 'developer' }, KEY),
    accounts.grant({ id: 'acc_europe_acme', tier: 'developer' }, KEY),
    accounts.create({ id: 'acc_eu_a b', tier: 'developer' }),
    accounts.create({ tier: 'developer', name: 'n'.repeat(201) }),
    accounts.setTier('nobody', 'enterprise'),
  ];
  for (const outcome of await Promise.allSettled(refused)) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof AccountError);
  }
  assert.is(await accounts.authenticate(KEY), 'unknown');
  assert.equal(await fixture.rows(), []);
  assert.equal(fixture.events, []);
});

test('an operator makes an account once: the same again is the same, another of its id is refused', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  const made = await accounts.create({ tier: 'standard', name: 'Acme', email: 'ops@acme.example' });
  assert.match(made.id, /^acc_eu_[a-z0-9]{16}$/);
  assert.equal(await accounts.create({ id: made.id, tier: 'standard', name: 'Acme', email: 'ops@acme.example' }), made);
  assert.is(await refusal(accounts.create({ id: made.id, tier: 'enterprise' })), 'account-exists');
  assert.is(fixture.events.length, 1);
  await fixture.reopen();
  assert.equal(await fixture.accounts.accountStore.account(made.id), made);
});

test('accounts are listed page by page, those whose id begins with that of another included', async () => {
  await using fixture = await AccountFixture.open();
  const ids = ['a', 'a-', 'a-b', 'a0', 'aa', 'b'].map((name) => `acc_eu_${name}`);
  for (const id of ids) await fixture.accounts.create({ id, tier: 'developer' });
  const seen: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await fixture.accounts.accountStore.accounts(2, after);
    seen.push(...page.map(({ id }) => id));
    after = page.at(-1)?.id;
    if (page.length < 2 || after === undefined) break;
  }
  assert.equal(seen.sort(), ids.sort());
});

test('what could not be recorded did not happen', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  const rows = await fixture.rows();
  fixture.onRecord = async () => {
    throw new Error('the audit log is full');
  };
  const [key] = await accounts.keys.list('acc_eu_acme');
  for (const change of [
    accounts.setTier('acc_eu_acme', 'enterprise'),
    accounts.create({ tier: 'developer' }),
    accounts.keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator'),
    accounts.keys.rotate('acc_eu_acme', key?.id ?? '', 0, 'operator'),
    accounts.keys.revoke('acc_eu_acme', key?.id ?? '', 'operator'),
  ]) {
    assert.match(String(await change.catch((error: unknown) => error)), 'audit log is full');
  }
  assert.equal(await fixture.rows(), rows);
  assert.is(accountOf(await accounts.authenticate(KEY)).tier, 'developer');
});

test('a change of several events is recorded whole, with what it changes', async () => {
  await using fixture = await AccountFixture.open();
  const { accounts } = fixture;
  const recorded: string[][] = [];
  fixture.onRecord = async (events) => void recorded.push(events.map(({ action }) => action));
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  const [key] = await accounts.keys.list('acc_eu_acme');
  await accounts.keys.rotate('acc_eu_acme', key?.id ?? '', 0, 'operator');
  assert.equal(recorded, [
    ['account.created', 'key.created'],
    ['key.rotated', 'key.created'],
  ]);
});

test('no key is on the disk', async () => {
  await using fixture = await AccountFixture.open();
  await fixture.accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, KEY);
  const made = await fixture.accounts.keys.create('acc_eu_acme', { preset: 'admin' }, 'operator');
  const rotatedKey = await fixture.accounts.keys.rotate('acc_eu_acme', made.key.id, 60, { key: made.key.id });
  const bytes = await fixture.bytes();
  assert.ok(bytes.includes('acc_eu_acme'));
  for (const text of [KEY, made.apiKey, rotatedKey.apiKey]) assert.not.ok(bytes.includes(text));
});

test.run();
