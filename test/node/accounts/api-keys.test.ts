import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { MailedTerms } from '../../../node/accounts/api-keys.ts';
import { MAX_KEYS, MAX_KEYS_OF_ALL, MAX_SIGN_IN_KEYS } from '../../../node/accounts/key-limits.ts';
import type { KeyRequest } from '../../../node/accounts/key-terms.ts';
import { newKeyId } from '../../../node/accounts/key-id.ts';
import { newKeyText } from '../../../node/accounts/key-text.ts';
import { statementDraft } from '../../../node/accounts/statements/statement-draft.ts';
import { readAccountStatement } from '../../../protocol/accounts/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { AccountFixture, DAY_MS, EU, HOUR_MS, refusal, refused, US } from './account-fixture.ts';

const OVERLAP_SECONDS = 3600;

async function opened(): Promise<AccountFixture> {
  const fixture = await AccountFixture.open();
  await fixture.accounts.create({ id: 'acc_eu_acme', tier: 'standard' });
  return fixture;
}

async function stateOf({ accounts }: AccountFixture, apiKey: string): Promise<string> {
  const found = await accounts.authenticate(apiKey);
  return typeof found === 'string' ? found : 'active';
}

test('presets and scopes: a key is exactly what was asked for', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const bound: KeyRequest = { preset: 'ingest', name: 'loader', sources: ['b', 'a', 'b'] };
  const preset = await keys.create('acc_eu_acme', bound, 'operator');
  assert.equal(
    [preset.key.name, preset.key.preset, preset.key.scopes, preset.key.sources],
    ['loader', 'ingest', ['attest:write', 'proof:read'], ['b', 'a']],
  );
  fixture.now += 1;
  const scoped = await keys.create('acc_eu_acme', { scopes: ['audit:read', 'attest:write', 'audit:read'] }, 'operator');
  assert.equal([scoped.key.preset, scoped.key.scopes], [null, ['attest:write', 'audit:read']]);
  const found = await fixture.accounts.authenticate(preset.apiKey);
  if (typeof found === 'string') throw new Error(found);
  const { scopes } = preset.key;
  assert.equal(found.caller.key, { id: preset.key.id, scopes, sources: ['b', 'a'] });
  assert.equal(
    (await keys.list('acc_eu_acme')).map(({ id }) => id),
    [preset.key.id, scoped.key.id],
  );
});

test('terms that make no sense are refused by the name of the member', async () => {
  await using fixture = await opened();
  const cases: readonly [KeyRequest, string][] = [
    [{ preset: 'ingest', scopes: ['attest:write'] }, 'scopes'],
    [{ scopes: [] }, 'scopes'],
    [{ preset: 'ingest', sources: [] }, 'sources'],
    [{ preset: 'ingest', addresses: [] }, 'addresses'],
    [{ preset: 'ingest', addresses: ['10.0.0.0/33'] }, 'addresses'],
    [{ preset: 'ingest', expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ preset: 'ingest', expiresAt: '9999-12-31T23:59:59-23:59' }, 'expiresAt'],
    [{ preset: 'ingest', expiresAt: fixture.at(0) }, 'expiresAt'],
    [{ preset: 'auditor', expiresAt: null }, 'expiresAt'],
  ];
  for (const [request, field] of cases) {
    const error = await refused(fixture.accounts.keys.create('acc_eu_acme', request, 'operator'));
    assert.equal([error.code, error.field], ['terms-invalid', field], JSON.stringify(request));
  }
  assert.is(await refusal(fixture.accounts.keys.create('acc_eu_acme', {}, 'operator')), 'terms-missing');
  assert.equal(await fixture.accounts.keys.list('acc_eu_acme'), []);
});

test('a key ends at its time to the millisecond, also where it is remembered', async () => {
  await using fixture = await opened();
  const { apiKey } = await fixture.accounts.keys.create(
    'acc_eu_acme',
    { preset: 'ingest', expiresAt: fixture.at(5000) },
    'operator',
  );
  fixture.now += 4999;
  assert.is(await stateOf(fixture, apiKey), 'active');
  fixture.now += 1;
  assert.is(await stateOf(fixture, apiKey), 'expired');
});

test('the key of an auditor ends after ninety days unless it is told otherwise', async () => {
  await using fixture = await opened();
  const usual = await fixture.accounts.keys.create('acc_eu_acme', { preset: 'auditor' }, 'operator');
  assert.is(usual.key.expiresAt, fixture.at(90 * DAY_MS));
  const ending = { preset: 'auditor', expiresAt: fixture.at(DAY_MS) } as const;
  const given = await fixture.accounts.keys.create('acc_eu_acme', ending, 'operator');
  assert.is(given.key.expiresAt, fixture.at(DAY_MS));
});

test('rotation: the new key has the same terms, both work during the overlap, then the new one alone', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const terms = {
    preset: 'ingest',
    sources: ['a'],
    addresses: ['10.0.0.0/8'],
    expiresAt: fixture.at(9 * DAY_MS),
  } as const;
  const old = await keys.create('acc_eu_acme', terms, 'operator');
  const made = await keys.rotate('acc_eu_acme', old.key.id, OVERLAP_SECONDS, 'operator');
  const { name, preset, scopes, sources, addresses, expiresAt } = old.key;
  assert.equal({ ...made.key, name, preset, scopes, sources, addresses, expiresAt }, made.key);
  assert.equal([made.replaced.replacedBy, made.replaced.expiresAt], [made.key.id, fixture.at(HOUR_MS)]);
  assert.equal([await stateOf(fixture, old.apiKey), await stateOf(fixture, made.apiKey)], ['active', 'active']);
  fixture.now += HOUR_MS;
  assert.equal([await stateOf(fixture, old.apiKey), await stateOf(fixture, made.apiKey)], ['expired', 'active']);
  fixture.now += 9 * DAY_MS;
  assert.is(await stateOf(fixture, made.apiKey), 'expired');
});

test('rotation without overlap ends the old key at once; an end that is nearer stays', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const leaked = await keys.create('acc_eu_acme', { preset: 'admin' }, 'operator');
  assert.is(await stateOf(fixture, leaked.apiKey), 'active');
  const made = await keys.rotate('acc_eu_acme', leaked.key.id, 0, { key: leaked.key.id });
  assert.equal([await stateOf(fixture, leaked.apiKey), await stateOf(fixture, made.apiKey)], ['expired', 'active']);
  const short = await keys.create('acc_eu_acme', { preset: 'ingest', expiresAt: fixture.at(1000) }, 'operator');
  const { replaced: ended } = await keys.rotate('acc_eu_acme', short.key.id, OVERLAP_SECONDS, 'operator');
  assert.is(ended.expiresAt, fixture.at(1000));
});

test('what has ended or was replaced cannot be rotated', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const replaced = await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  await keys.rotate('acc_eu_acme', replaced.key.id, OVERLAP_SECONDS, 'operator');
  const revoked = await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  await keys.revoke('acc_eu_acme', revoked.key.id, 'operator');
  const expired = await keys.create('acc_eu_acme', { preset: 'ingest', expiresAt: fixture.at(1) }, 'operator');
  fixture.now += 1;
  for (const { key } of [replaced, revoked, expired]) {
    assert.is(await refusal(keys.rotate('acc_eu_acme', key.id, 0, 'operator')), 'key-ended');
  }
});

test('of many rotations at once exactly one is made', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const { key } = await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  const rotate = () => keys.rotate('acc_eu_acme', key.id, 60, 'operator');
  const all = await Promise.allSettled(Array.from({ length: 20 }, rotate));
  assert.is(all.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.is((await keys.list('acc_eu_acme')).length, 2);
});

test('a revoked key is refused by everything that comes after, under a load that remembers it', async () => {
  await using fixture = await opened();
  const { apiKey, key } = await fixture.accounts.keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  let isRevoked = false;
  let asked = 0;
  const wrong: string[] = [];
  const load = async () => {
    for (let after = 0; after < 50; asked++) {
      const since = isRevoked;
      const state = await stateOf(fixture, apiKey);
      if (since) after++;
      if (since && state !== 'revoked') wrong.push(state);
      await new Promise(setImmediate);
    }
  };
  const running = Array.from({ length: 16 }, load);
  await new Promise((resolve) => setTimeout(resolve, 30));
  await fixture.accounts.keys.revoke('acc_eu_acme', key.id, 'operator');
  isRevoked = true;
  await Promise.all(running);
  assert.ok(asked > 16 * 50);
  assert.equal(wrong, []);
  await fixture.reopen();
  assert.is(await stateOf(fixture, apiKey), 'revoked');
});

test('revoking twice is one event; a key of another account is not found', async () => {
  await using fixture = await opened();
  const { accounts } = fixture;
  await accounts.create({ id: 'acc_eu_globex', tier: 'standard' });
  const { key } = await accounts.keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  const once = await accounts.keys.revoke('acc_eu_acme', key.id, 'operator');
  fixture.now += 1000;
  assert.equal(await accounts.keys.revoke('acc_eu_acme', key.id, 'operator'), once);
  assert.is(fixture.events.filter(({ action }) => action === 'key.revoked').length, 1);
  for (const attempt of [
    accounts.keys.revoke('acc_eu_globex', key.id, 'operator'),
    accounts.keys.rotate('acc_eu_globex', key.id, 0, 'operator'),
    accounts.keys.revoke('acc_eu_acme', newKeyId(EU, fixture.now), 'operator'),
  ]) {
    assert.is(await refusal(attempt), 'key-not-found');
  }
  assert.is(await refusal(accounts.keys.create('nobody', { preset: 'ingest' }, 'operator')), 'account-not-found');
});

test('every change is told, with who asked', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const admin = await keys.create('acc_eu_acme', { preset: 'admin' }, 'operator');
  const made = await keys.create('acc_eu_acme', { preset: 'ingest' }, { key: admin.key.id });
  const rotatedKey = await keys.rotate('acc_eu_acme', made.key.id, 0, { key: admin.key.id });
  await keys.revoke('acc_eu_acme', rotatedKey.key.id, { key: admin.key.id });
  assert.equal(fixture.events.slice(1), [
    { account: 'acc_eu_acme', action: 'key.created', subject: admin.key.id, by: 'operator' },
    { account: 'acc_eu_acme', action: 'key.created', subject: made.key.id, by: admin.key.id },
    { account: 'acc_eu_acme', action: 'key.rotated', subject: made.key.id, by: admin.key.id },
    { account: 'acc_eu_acme', action: 'key.created', subject: rotatedKey.key.id, by: admin.key.id },
    { account: 'acc_eu_acme', action: 'key.revoked', subject: rotatedKey.key.id, by: admin.key.id },
  ]);
});

test('a key that an operator brings a second time is answered as it is; its text and id are never used twice', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const given = { apiKey: newKeyText(EU), id: newKeyId(EU, fixture.now) };
  const made = await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator', given);
  fixture.now += 1000;
  assert.equal(await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator', given), made);
  const other = { apiKey: newKeyText(EU), id: newKeyId(EU, fixture.now) };
  for (const clash of [{ apiKey: given.apiKey }, { ...other, id: given.id }, { ...given, id: other.id }]) {
    assert.is(await refusal(keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator', clash)), 'key-exists');
  }
  const rotatedKey = await keys.rotate('acc_eu_acme', made.key.id, 60, 'operator', other);
  assert.equal(await keys.rotate('acc_eu_acme', made.key.id, 60, 'operator', other), rotatedKey);
  const weak = keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator', { apiKey: 'short' });
  assert.is(await refusal(weak), 'key-weak');
});

test('the day of the last use is kept, once a day', async () => {
  await using fixture = await opened();
  const { apiKey } = await fixture.accounts.keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  const lastUsed = async () => (await fixture.accounts.keys.list('acc_eu_acme'))[0]?.lastUsedDay;
  assert.is(await lastUsed(), null);
  for (const day of ['2026-11-21', '2026-11-22']) {
    await Promise.all(Array.from({ length: 50 }, () => fixture.accounts.authenticate(apiKey)));
    const { writes } = fixture.store;
    await fixture.reopen();
    assert.is(await lastUsed(), day);
    for (let i = 0; i < 50; i++) await fixture.accounts.authenticate(apiKey);
    assert.ok(fixture.store.writes - writes <= 1);
    fixture.now += DAY_MS;
  }
});

test('a full list of keys makes room by the one that ended first, and refuses when all are in use', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  for (let i = 0; i < MAX_KEYS; i++) await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  assert.is(await refusal(keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator')), 'too-many-keys');
  const all = await keys.list('acc_eu_acme');
  for (const at of [7, 3]) {
    await keys.revoke('acc_eu_acme', all[at]?.id ?? '', 'operator');
    fixture.now += 1000;
  }
  await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  const left = (await keys.list('acc_eu_acme')).map(({ id }) => id);
  assert.is(left.length, MAX_KEYS);
  assert.not.ok(left.some((id) => id === all[7]?.id));
  assert.ok(left.some((id) => id === all[3]?.id));
});

/** A key as whoever signs in by mail gets one, a moment later. */
function signedIn(fixture: AccountFixture) {
  fixture.now += 1;
  const expiresAt = timestampOf(fixture.now + HOUR_MS);
  const terms: MailedTerms = { by: 'sign-in', name: null, holder: 'owner', signIn: true, expiresAt };
  return fixture.accounts.keys.replaceLost(async () => ({ account: 'acc_eu_acme', operations: [] }), [], terms);
}

test('keys of sign-ins by mail take no room of others; past their own number the oldest of them ends', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const made = await keys.create('acc_eu_acme', { preset: 'admin' }, 'operator');
  const first = await signedIn(fixture);
  for (let i = 1; i < MAX_SIGN_IN_KEYS; i++) await signedIn(fixture);
  assert.is(await stateOf(fixture, first.apiKey), 'active');
  for (let i = 1; i < MAX_KEYS; i++) await keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator');
  assert.is(await refusal(keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator')), 'too-many-keys');
  fixture.events.length = 0;
  const last = await signedIn(fixture);
  assert.equal([await stateOf(fixture, first.apiKey), await stateOf(fixture, last.apiKey)], ['unknown', 'active']);
  assert.equal(
    fixture.events.map(({ action, subject, by }) => [action, subject, by]),
    [
      ['key.revoked', first.key.id, 'node'],
      ['key.created', last.key.id, 'sign-in'],
    ],
  );
  assert.is(await stateOf(fixture, made.apiKey), 'active');
  assert.is((await keys.list('acc_eu_acme')).length, MAX_KEYS + MAX_SIGN_IN_KEYS);
  const { accountStore } = fixture.accounts;
  const account = { ...(await accountStore.requireAccount('acc_eu_acme')), nodes: [EU, US] };
  const held = await accountStore.keys('acc_eu_acme');
  const { payload } = statementDraft({ home: EU, account, keys: held, version: 1, now: fixture.now });
  assert.is(readAccountStatement(payload).keys.length, MAX_KEYS, 'what other nodes are told of');
  const taken = keys.rotate('acc_eu_acme', last.key.id, 0, { key: last.key.id });
  assert.is(
    await refusal(taken),
    'too-many-keys',
    'the key in the place of a sign-in’s is one of those that callers have',
  );
  fixture.now += HOUR_MS;
  await signedIn(fixture);
  assert.is((await keys.list('acc_eu_acme')).length, MAX_KEYS + MAX_SIGN_IN_KEYS, 'one that ended makes room');
});

test('a rotation has room where all keys are in use; of too many that go on for a while the first to end makes it', async () => {
  await using fixture = await opened();
  const { keys } = fixture.accounts;
  const [first, ...others] = await Promise.all(
    Array.from({ length: MAX_KEYS }, () => keys.create('acc_eu_acme', { preset: 'ingest' }, 'operator')),
  );
  const replaced: string[] = [];
  let one = first;
  for (let i = 0; i < MAX_KEYS_OF_ALL - MAX_KEYS + 2; i++) {
    if (one === undefined) throw new Error('no key');
    replaced.push(one.apiKey);
    one = await keys.rotate('acc_eu_acme', one.key.id, OVERLAP_SECONDS + i, 'operator');
  }
  const states = await Promise.all(replaced.map((apiKey) => stateOf(fixture, apiKey)));
  assert.equal(states, [...Array(2).fill('unknown'), ...Array(replaced.length - 2).fill('active')]);
  for (const { apiKey } of [...others, ...(one === undefined ? [] : [one])]) {
    assert.is(await stateOf(fixture, apiKey), 'active');
  }
  assert.is((await keys.list('acc_eu_acme')).length, MAX_KEYS_OF_ALL);
  assert.is(fixture.events.filter(({ action, by }) => action === 'key.revoked' && by === 'node').length, 2);
  fixture.now += HOUR_MS * 2;
  await keys.rotate('acc_eu_acme', others[0]?.key.id ?? '', 0, 'operator');
  assert.is((await keys.list('acc_eu_acme')).length, MAX_KEYS, 'those that ended make room');
});

test.run();
