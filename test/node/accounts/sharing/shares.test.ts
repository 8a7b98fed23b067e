import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Caller } from '../../../../node/accounts/caller.ts';
import { accountShareTable, shareDigest, shareTable } from '../../../../node/accounts/sharing/share-table.ts';
import { ENDED_LISTED_MS, type IssuedShare, MAX_SHARES, Shares } from '../../../../node/accounts/sharing/shares.ts';
import { EXAMPLE_IDS } from '../../../../protocol/api/example-ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { until } from '../../../fixtures/until.ts';
import { AccountFixture, DAY_MS, refusal, START } from '../account-fixture.ts';

const log = pino({ level: 'silent' });
const SUBJECT = { id: EXAMPLE_IDS.decision, sourceId: 'loans', submittedAt: timestampOf(START) };
const PAYLOAD_KEY = new Uint8Array(32).fill(7);

/** Links of an account `acc_eu_ada` with one key. */
class ShareFixture implements AsyncDisposable {
  readonly fixture: AccountFixture;
  readonly caller: Caller;
  shares: Shares;

  private constructor(fixture: AccountFixture, caller: Caller, shares: Shares) {
    this.fixture = fixture;
    this.caller = caller;
    this.shares = shares;
  }

  static async open(): Promise<ShareFixture> {
    const fixture = await AccountFixture.open();
    const account = await fixture.accounts.create({ id: 'acc_eu_ada', tier: 'standard' });
    const { key } = await fixture.accounts.keys.create(account.id, { preset: 'admin' }, 'operator');
    return new ShareFixture(fixture, { account, key }, await opened(fixture));
  }

  create(): Promise<IssuedShare> {
    return this.shares.create(this.caller, {}, SUBJECT);
  }

  /** As a restart does, which sweeps. */
  async restart(): Promise<void> {
    await this.shares[Symbol.asyncDispose]();
    this.shares = await opened(this.fixture);
    this.shares.start();
  }

  async rows(): Promise<readonly string[]> {
    return (await this.fixture.rows()).filter((row) => /^(account-)?share\//.test(row));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shares[Symbol.asyncDispose]();
    await this.fixture[Symbol.asyncDispose]();
  }
}

function opened({ store, accounts: { accountStore }, onRecord }: AccountFixture): Promise<Shares> {
  return Shares.open({
    store,
    accountStore,
    payloadKey: PAYLOAD_KEY,
    copiedAt: null,
    log,
    record: async (events, operations) => {
      await onRecord(events);
      await store.write(operations);
    },
  });
}

test('a thief of the store has hashes alone', async () => {
  await using sharing = await ShareFixture.open();
  const text = 'a key of the caller';
  const first = await sharing.create();
  const second = await sharing.shares.create(sharing.caller, {}, SUBJECT, { text, key: 'a'.repeat(64), request: 'r' });
  const bytes = await sharing.fixture.bytes();
  for (const { token } of [first, second]) {
    assert.is(token.length, 43);
    assert.not.ok(bytes.includes(token));
    assert.not.ok(bytes.includes(Buffer.from(token, 'base64url')));
    assert.not.ok(bytes.includes(Buffer.from(token, 'base64url').toString('hex')));
    const digest = shareDigest(token);
    assert.ok(bytes.includes(digest));
    assert.is(await refusal(sharing.shares.enter(digest)), 'link-invalid', 'a hash is no link');
    assert.is(await refusal(sharing.shares.enter(token.toLowerCase())), 'link-invalid');
  }
  assert.not.ok(bytes.includes(text));
});

test('a link that ended is listed for thirty days; its rows are removed then', async () => {
  await using sharing = await ShareFixture.open();
  const { share } = await sharing.create();
  const revoked = await sharing.create();
  await sharing.shares.revoke(sharing.caller, revoked.share.id);
  sharing.fixture.now = Date.parse(share.expiresAt) + ENDED_LISTED_MS - 1;
  await sharing.restart();
  await until('the one that was revoked is gone', async () => (await sharing.rows()).length === 2);
  assert.equal(
    (await sharing.shares.list(sharing.caller)).map((one) => [one.share.id, one.status]),
    [[share.id, 'expired']],
  );
  sharing.fixture.now++;
  await sharing.restart();
  await until('no row', async () => (await sharing.rows()).length === 0);
});

test('over the bound the link that ended first makes sharing, and none that works does', async () => {
  await using sharing = await ShareFixture.open();
  const links: IssuedShare[] = [];
  for (let i = 0; i < MAX_SHARES; i++) links.push(await sharing.create());
  assert.is(await refusal(sharing.create()), 'too-many-shares');
  const [first, second] = links.slice(10).map(({ share }) => share.id);
  for (const id of [second, first]) {
    sharing.fixture.now++;
    if (id !== undefined) await sharing.shares.revoke(sharing.caller, id);
  }
  await sharing.create();
  const ids = new Set<string | undefined>((await sharing.shares.list(sharing.caller)).map(({ share: { id } }) => id));
  assert.equal([ids.size, ids.has(first), ids.has(second)], [MAX_SHARES, true, false]);
});

test('uses that could not be written are written with the next; what is written elsewhere meanwhile stays', async () => {
  await using sharing = await ShareFixture.open();
  const { token, share } = await sharing.create();
  const digest = shareDigest(token);
  const { store } = sharing.fixture;
  const write = store.write.bind(store);
  store.write = () => Promise.reject(new Error('a full disk'));
  sharing.shares.noteUse({ digest, share });
  sharing.shares.noteUse({ digest, share });
  await sharing.shares.list(sharing.caller);
  store.write = write;
  assert.is((await shareTable.get(store, digest))?.uses, 0);
  sharing.fixture.now += DAY_MS;
  await sharing.shares.revoke(sharing.caller, share.id);
  sharing.shares.noteUse({ digest, share });
  const [listed] = await sharing.shares.list(sharing.caller);
  assert.equal(
    [listed?.share.uses, listed?.share.lastUsedAt, listed?.status],
    [3, timestampOf(START + DAY_MS), 'revoked'],
  );
});

test('a link is made, or ended, with its line in the log or not at all', async () => {
  await using sharing = await ShareFixture.open();
  const { token, share } = await sharing.create();
  await sharing.shares[Symbol.asyncDispose]();
  sharing.fixture.onRecord = () => Promise.reject(new Error('a full disk'));
  sharing.shares = await opened(sharing.fixture);
  for (const change of [sharing.create(), sharing.shares.revoke(sharing.caller, share.id)]) {
    assert.match(await change.then(() => 'done', String), 'a full disk');
  }
  assert.is((await sharing.shares.enter(token)).share.revokedAt, null);
  assert.is(await accountShareTable.get(sharing.fixture.store, 'acc_eu_ada', share.id), shareDigest(token));
  assert.is((await sharing.rows()).length, 2);
});

test('a key that was revoked meanwhile makes no link', async () => {
  await using sharing = await ShareFixture.open();
  await sharing.fixture.accounts.keys.revoke(sharing.caller.account.id, sharing.caller.key.id, 'operator');
  assert.is(await refusal(sharing.create()), 'maker-ended');
});

test.run();
