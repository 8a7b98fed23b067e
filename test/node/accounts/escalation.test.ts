import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountError } from '../../../node/accounts/account-error.ts';
import type { Actor } from '../../../node/accounts/account-event.ts';
import type { ApiKey } from '../../../node/accounts/api-key.ts';
import type { MailedTerms } from '../../../node/accounts/api-keys.ts';
import { AddressList } from '../../../node/outbound/address-list.ts';
import { type KeyRequest, termsOf } from '../../../node/accounts/key-terms.ts';
import { KEY_PRESETS, PRESET_NAMES, SCOPES } from '../../../node/accounts/scopes.ts';
import { newPersonId } from '../../../node/accounts/people/person-table.ts';
import type { MailReader } from '../../../protocol/api/people.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';
import { AccountFixture, DAY_MS, refused, refusal, START } from './account-fixture.ts';

const SOURCES = ['a', 'b', 'c'];
const RANGES = ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '192.0.2.0/24', '2001:db8::/32', '0.0.0.0/0'];

const someScopes = fc.subarray([...SCOPES], { minLength: 1 });
const anyLimits = {
  sources: fc.option(fc.subarray(SOURCES, { minLength: 1 })),
  addresses: fc.option(fc.subarray(RANGES, { minLength: 1 })),
  expiresAt: fc.option(fc.integer({ min: 1, max: 200 }).map((days) => timestampOf(START + days * DAY_MS))),
};
const maker = fc.record({ ...anyLimits, name: fc.constant(null), preset: fc.constant(null), scopes: someScopes });
const request: fc.Arbitrary<KeyRequest> = fc.oneof(
  fc.record({ ...anyLimits, scopes: someScopes }, { requiredKeys: ['scopes'] }),
  fc.record({ ...anyLimits, preset: fc.constantFrom(...PRESET_NAMES) }, { requiredKeys: ['preset'] }),
);

test('whatever is asked for, a key never gets more than its maker has', () => {
  let made = 0;
  fc.assert(
    fc.property(maker, request, (from, asked) => {
      let terms;
      try {
        terms = termsOf(asked, from, START);
      } catch (error) {
        assert.instance(error, AccountError);
        return;
      }
      made++;
      assert.ok(terms.scopes.every((scope) => from.scopes.includes(scope)));
      assert.ok(from.sources === null || (terms.sources?.every((source) => from.sources?.includes(source)) ?? false));
      assert.ok(from.expiresAt === null || (terms.expiresAt !== null && terms.expiresAt <= from.expiresAt));
      if (from.addresses === null) return;
      assert.ok(terms.addresses !== null);
      const [outer, inner] = [new AddressList(from.addresses), new AddressList(terms.addresses)];
      for (const address of ['10.1.2.3', '10.1.9.9', '10.9.9.9', '192.0.2.1', '8.8.8.8', '2001:db8::1', '::1']) {
        if (inner.admits(address)) assert.ok(outer.admits(address), address);
      }
    }),
    { numRuns: 3000 },
  );
  assert.ok(made > 100);
});

test('what a maker has itself it may give, and what it leaves out is inherited', () => {
  const from = {
    name: 'maker',
    preset: 'admin' as const,
    scopes: [...SCOPES],
    sources: ['a'],
    addresses: ['10.0.0.0/8'],
    expiresAt: timestampOf(START + DAY_MS),
  };
  const terms = termsOf({ preset: 'admin' }, from, START);
  assert.equal(terms, { ...from, name: null });
  assert.is(termsOf({ preset: 'auditor' }, from, START).expiresAt, from.expiresAt);
});

async function withAdmins(): Promise<AccountFixture> {
  const fixture = await AccountFixture.open();
  await fixture.accounts.create({ id: 'acc_eu_acme', tier: 'standard' });
  await fixture.accounts.keys.create('acc_eu_acme', { preset: 'admin' }, 'operator');
  return fixture;
}

test('a limited administrator gains nothing by making, rotating or revoking keys', async () => {
  await using fixture = await withAdmins();
  const { keys } = fixture.accounts;
  const [full] = await keys.list('acc_eu_acme');
  const limits: readonly [KeyRequest, string][] = [
    [{ scopes: ['keys:admin', 'proof:read'] }, 'scopes'],
    [{ preset: 'admin', sources: ['a'] }, 'sources'],
    [{ preset: 'admin', expiresAt: fixture.at(DAY_MS) }, 'expiresAt'],
    [{ preset: 'admin', addresses: ['10.0.0.1'] }, 'addresses'],
  ];
  for (const [terms, field] of limits) {
    const { key } = await keys.create('acc_eu_acme', terms, 'operator');
    const actor = { key: key.id };
    const widest = { scopes: [...KEY_PRESETS.admin], sources: null, addresses: null, expiresAt: null };
    const made = await refused(keys.create('acc_eu_acme', widest, actor));
    assert.equal([made.code, made.field], ['beyond-maker', field]);
    const rotatedKey = await refused(keys.rotate('acc_eu_acme', full?.id ?? '', 0, actor));
    assert.equal([rotatedKey.code, rotatedKey.field], ['beyond-maker', field]);
    const own = await keys.rotate('acc_eu_acme', key.id, 0, actor);
    assert.equal({ ...own.key, ...pick(key) }, own.key);
    assert.is(await refusal(keys.create('acc_eu_acme', { scopes: ['keys:admin'] }, actor)), 'maker-ended');
  }
  for (const terms of [{ scopes: ['keys:admin'] }, { preset: 'admin', sources: ['a'] }] satisfies KeyRequest[]) {
    const { key } = await keys.create('acc_eu_acme', terms, 'operator');
    assert.is(await refusal(keys.revoke('acc_eu_acme', full?.id ?? '', { key: key.id })), 'beyond-maker');
  }
});

test('who signs in by mail rotates no key of somebody else, and nobody else rotates that of a sign-in', async () => {
  await using fixture = await withAdmins();
  const { keys } = fixture.accounts;
  const [p, q] = [newPersonId(nodeId('eu'), START), newPersonId(nodeId('eu'), START)];
  const expiresAt = timestampOf(START + DAY_MS);
  const signedIn = async (holder: MailReader) => {
    const terms: MailedTerms = { by: 'sign-in', name: null, holder, signIn: true, expiresAt };
    return (await keys.replaceLost(async () => ({ account: 'acc_eu_acme', operations: [] }), [], terms)).key;
  };
  const rotated = (key: ApiKey, actor: Actor) => keys.rotate('acc_eu_acme', key.id, 60, actor);
  const [ofP, ofQ] = [await signedIn(p), await signedIn(q)];
  const nobody = (await keys.create('acc_eu_acme', { preset: 'admin', expiresAt }, 'operator')).key;
  const made = (await keys.create('acc_eu_acme', { preset: 'admin' }, { key: ofQ.id })).key;
  const ofOwner = await signedIn('owner');
  for (const key of [ofQ, made, ofOwner]) {
    const { code, message } = await refused(rotated(key, { key: ofP.id }));
    assert.equal([code, message], ['beyond-maker', 'the key is of somebody else']);
  }
  assert.is(await refusal(rotated(ofQ, { key: nobody.id })), 'beyond-maker', 'a key of nobody');
  assert.is(await refusal(rotated(ofQ, 'operator')), 'beyond-maker', 'an operator');
  assert.is(await refusal(rotated(made, { key: ofOwner.id })), 'beyond-maker', 'the owner, who is signed in');
  assert.equal((await rotated(made, { key: nobody.id })).key.holder, q);
  assert.equal((await rotated(ofQ, { key: ofQ.id })).key.holder, q);
  const taken = (await rotated(nobody, { key: ofP.id })).key;
  assert.is(taken.holder, p, 'who has its text now');
});

test('a key that was replaced cannot outlive its overlap by its successor', async () => {
  await using fixture = await withAdmins();
  const { keys } = fixture.accounts;
  const [stolen] = await keys.list('acc_eu_acme');
  const actor = { key: stolen?.id ?? '' };
  const { key } = await keys.rotate('acc_eu_acme', actor.key, 3600, 'operator');
  assert.is(await refusal(keys.rotate('acc_eu_acme', key.id, 0, actor)), 'beyond-maker');
  assert.is(await refusal(keys.rotate('acc_eu_acme', actor.key, 0, actor)), 'key-ended');
  assert.is(await refusal(keys.revoke('acc_eu_acme', key.id, actor)), 'last-admin');
  const made = await keys.create('acc_eu_acme', { preset: 'admin' }, actor);
  assert.is(made.key.expiresAt, fixture.at(3_600_000));
});

test('a key that was revoked a moment ago makes nothing any more', async () => {
  await using fixture = await withAdmins();
  const { keys } = fixture.accounts;
  const { key } = await keys.create('acc_eu_acme', { preset: 'admin' }, 'operator');
  const [, made] = await Promise.allSettled([
    keys.revoke('acc_eu_acme', key.id, 'operator'),
    keys.create('acc_eu_acme', { preset: 'admin' }, { key: key.id }),
  ]);
  assert.is(made.status === 'rejected' && made.reason.code, 'maker-ended');
});

test('the last key that administers an account is not revoked by itself; it is rotated, or revoked by the operator', async () => {
  await using fixture = await withAdmins();
  const { keys } = fixture.accounts;
  const [last] = await keys.list('acc_eu_acme');
  const actor = { key: last?.id ?? '' };
  await keys.create('acc_eu_acme', { scopes: ['keys:admin'] }, 'operator');
  const ending = await keys.create('acc_eu_acme', { preset: 'admin', expiresAt: fixture.at(1000) }, 'operator');
  fixture.now += 1000;
  assert.is(await refusal(keys.revoke('acc_eu_acme', actor.key, actor)), 'last-admin');
  assert.ok(ending.key.expiresAt);
  const { key } = await keys.rotate('acc_eu_acme', actor.key, 60, actor);
  await keys.revoke('acc_eu_acme', actor.key, { key: key.id });
  assert.is(await refusal(keys.revoke('acc_eu_acme', key.id, { key: key.id })), 'last-admin');
  const second = await keys.create('acc_eu_acme', { preset: 'admin' }, { key: key.id });
  await keys.revoke('acc_eu_acme', key.id, { key: key.id });
  await keys.revoke('acc_eu_acme', second.key.id, 'operator');
});

function pick({ scopes, sources, addresses, expiresAt }: ApiKey): Partial<ApiKey> {
  return { scopes, sources, addresses, expiresAt };
}

test.run();
