import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_KEYS, MAX_KEYS_OF_ALL } from '../../../../node/accounts/key-limits.ts';
import { SIGN_UP_ALLOWANCE } from '../../../../node/accounts/limits/allowances.ts';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { LINK_MS, tokenDigest } from '../../../../node/accounts/lost-key/lost-key-table.ts';
import { LostKeys } from '../../../../node/accounts/lost-key/lost-keys.ts';
import { type Mail, MailError } from '../../../../node/accounts/mail/mailer.ts';
import { SignUpError, SignUpLimits } from '../../../../node/accounts/sign-up/sign-up-limits.ts';
import { until } from '../../../fixtures/until.ts';
import { AccountFixture, DAY_MS, refusal, refused } from '../account-fixture.ts';

const ADA = 'ada@example.org';
const FROM = '192.0.2.1';
const NODE_URL = 'https://eu.example/verify';
const log = pino({ level: 'silent' });
const ANSWERED = Promise.resolve();

/** Lost keys of an account `acc_eu_ada` with one key, and the mails that were sent. */
class LostKeyFixture implements AsyncDisposable {
  readonly mails: Mail[] = [];
  lostKeys: LostKeys;
  onMail: () => Promise<void> = async () => {};
  readonly fixture: AccountFixture;

  private constructor(fixture: AccountFixture) {
    this.fixture = fixture;
    this.lostKeys = this.#open();
  }

  static async open(): Promise<LostKeyFixture> {
    const fixture = await AccountFixture.open();
    await fixture.accounts.create({ id: 'acc_eu_ada', tier: 'standard', email: ADA });
    return new LostKeyFixture(fixture);
  }

  get keys() {
    return this.fixture.accounts.keys;
  }

  async restart(): Promise<void> {
    await this.lostKeys[Symbol.asyncDispose]();
    await this.fixture.reopen();
    this.lostKeys = this.#open();
  }

  /** The token of the next mail. */
  async token(email = ADA): Promise<string> {
    const before = this.mails.length;
    this.lostKeys.request(email, FROM, ANSWERED);
    await until('a mail', () => this.mails.length > before);
    const [, token] = /\/v1\/lost-key\/([A-Za-z0-9_-]{43})\n/.exec(this.mails.at(-1)?.text ?? '') ?? [];
    if (token === undefined) throw new Error('the mail has no link');
    return token;
  }

  async links(): Promise<string[]> {
    return (await this.fixture.rows()).filter((row) => row.startsWith('lost-key/'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lostKeys[Symbol.asyncDispose]();
    await this.fixture[Symbol.asyncDispose]();
  }

  #open(): LostKeys {
    const { store, accounts } = this.fixture;
    const send = async (mail: Mail): Promise<void> => {
      await this.onMail();
      this.mails.push(mail);
    };
    const limits = new SignUpLimits(() => this.fixture.now);
    return new LostKeys({
      store,
      accountStore: accounts.accountStore,
      keys: accounts.keys,
      mailer: { send },
      limits,
      nodeUrl: () => NODE_URL,
      log,
    });
  }
}

function codeOf(attempt: () => void): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof SignUpError || error instanceof LimitError) return error.code;
    throw error;
  }
  return 'it was taken';
}

test('a link is mailed to the account’s own address; a new key comes once, and the old ones named end with it', async () => {
  await using lost = await LostKeyFixture.open();
  const { fixture, keys } = lost;
  const old = await keys.create('acc_eu_ada', { preset: 'ingest' }, 'operator');
  fixture.now += 1;
  const kept = await keys.create('acc_eu_ada', { preset: 'auditor' }, 'operator');
  fixture.events.length = 0;
  const token = await lost.token('ADA@EXAMPLE.org');
  assert.equal([lost.mails[0]?.to, lost.mails.length], [ADA, 1]);
  assert.match(lost.mails[0]?.text ?? '', `${NODE_URL}/v1/lost-key/${token}`);
  assert.match(lost.mails[0]?.text ?? '', 'there is nothing to do');
  const rows = await fixture.rows();
  for (let look = 0; look < 2; look++) {
    const open = await lost.lostKeys.open(token);
    assert.equal([open.account, open.keys.map(({ id }) => id)], ['acc_eu_ada', [old.key.id, kept.key.id]]);
  }
  assert.equal(await fixture.rows(), rows, 'looking changes nothing');
  const { apiKey, key, revoked } = await lost.lostKeys.replace(token, [old.key.id]);
  const found = await fixture.accounts.authenticate(apiKey);
  assert.equal(typeof found === 'string' ? found : found.caller.key.id, key.id);
  assert.equal([key.preset, key.name, key.expiresAt], ['admin', 'lost-key', null]);
  assert.equal(
    revoked.map(({ id }) => id),
    [old.key.id],
  );
  assert.is(await fixture.accounts.authenticate(old.apiKey), 'revoked');
  assert.is.not(typeof (await fixture.accounts.authenticate(kept.apiKey)), 'string');
  assert.equal(
    fixture.events.map(({ account, action, subject, by }) => [account, action, subject, by]),
    [
      ['acc_eu_ada', 'lost-key.asked', 'acc_eu_ada', 'lost-key'],
      ['acc_eu_ada', 'key.revoked', old.key.id, 'lost-key'],
      ['acc_eu_ada', 'key.created', key.id, 'lost-key'],
    ],
  );
  assert.is(await refusal(lost.lostKeys.replace(token, [])), 'link-invalid');
  assert.is(await refusal(lost.lostKeys.open(token)), 'link-invalid');
  assert.equal(await lost.links(), []);
});

test('before the answer is sent nothing is looked up, written or mailed; without an account nothing is after it either', async () => {
  await using lost = await LostKeyFixture.open();
  const { store } = lost.fixture;
  const [get, write] = [store.get.bind(store), store.write.bind(store)];
  const trace: string[] = [];
  store.get = (key) => {
    trace.push(`get ${key.split('/')[0]}`);
    return get(key);
  };
  store.write = (operations) => {
    trace.push('write');
    return write(operations);
  };
  lost.onMail = async () => void trace.push('mail');
  const traces: string[][] = [];
  for (const email of ['nobody@example.org', ADA]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    lost.lostKeys.request(email, FROM, promise);
    for (let turn = 0; turn < 5; turn++) await new Promise((next) => setImmediate(next));
    assert.equal(trace, [], email);
    resolve();
    await until('the work', () => trace.length > 0);
    if (email === ADA) await until('the mail', () => lost.mails.length > 0);
    traces.push(trace.splice(0));
  }
  assert.equal(traces, [['get sign-up'], ['get sign-up', 'get account', 'write', 'mail']]);
  assert.equal(
    lost.mails.map(({ to }) => to),
    [ADA],
  );
});

test('a link survives a restart; its token is in no row and no file', async () => {
  await using lost = await LostKeyFixture.open();
  const token = await lost.token();
  await lost.restart();
  const bytes = await lost.fixture.bytes();
  assert.not.ok(bytes.includes(token));
  assert.ok(bytes.includes(tokenDigest(token)));
  assert.match((await lost.lostKeys.replace(token, [])).apiKey, /^mk_/);
  await lost.restart();
  assert.is(await refusal(lost.lostKeys.open(token)), 'link-invalid');
});

test('a link ends after a quarter of an hour, and its row is removed by the next start', async () => {
  await using lost = await LostKeyFixture.open();
  const token = await lost.token();
  lost.fixture.now += LINK_MS - 1;
  await lost.lostKeys.open(token);
  lost.fixture.now += 1;
  assert.is(await refusal(lost.lostKeys.open(token)), 'link-invalid');
  assert.is(await refusal(lost.lostKeys.replace(token, [])), 'link-invalid');
  assert.is((await lost.links()).length, 1);
  await lost.restart();
  lost.lostKeys.start();
  await until('the row is removed', async () => (await lost.links()).length === 0);
});

test('a newer link ends the older ones of the account, and those of others stay', async () => {
  await using lost = await LostKeyFixture.open();
  await lost.fixture.accounts.create({ id: 'acc_eu_bob', tier: 'developer', email: 'bob@example.org' });
  const other = await lost.token('bob@example.org');
  const [first, second] = [await lost.token(), await lost.token()];
  assert.is(await refusal(lost.lostKeys.open(first)), 'link-invalid');
  await lost.lostKeys.open(second);
  await lost.lostKeys.open(other);
  assert.is((await lost.links()).length, 2);
});

test('ids that are not of the account, or have ended, are refused by name: nothing has changed, and the link still works', async () => {
  await using lost = await LostKeyFixture.open();
  const { fixture, keys } = lost;
  await fixture.accounts.create({ id: 'acc_eu_bob', tier: 'developer' });
  const foreign = await keys.create('acc_eu_bob', { preset: 'ingest' }, 'operator');
  const good = await keys.create('acc_eu_ada', { preset: 'ingest' }, 'operator');
  const ended = await keys.create('acc_eu_ada', { preset: 'ingest' }, 'operator');
  await keys.revoke('acc_eu_ada', ended.key.id, 'operator');
  const token = await lost.token();
  const rows = await fixture.rows();
  const cases = [
    [foreign.key.id, 'key-not-found'],
    ['key_eu_nothing', 'key-not-found'],
    [ended.key.id, 'key-ended'],
  ] as const;
  for (const [id, code] of cases) {
    const error = await refused(lost.lostKeys.replace(token, [good.key.id, id]));
    assert.equal([error.code, error.field], [code, 'revoke'], id);
    assert.equal(await fixture.rows(), rows, id);
  }
  assert.is((await lost.lostKeys.replace(token, [good.key.id])).revoked.length, 1);
});

test('one link gives one key, however many ask at once', async () => {
  await using lost = await LostKeyFixture.open();
  const token = await lost.token();
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lost.lostKeys.replace(token, [])));
  assert.is(tries.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.is((await lost.keys.list('acc_eu_ada')).length, 1);
});

test('the key, the ends of the old ones and that of the link are one write: where it fails, none of them is', async () => {
  await using lost = await LostKeyFixture.open();
  const { fixture } = lost;
  const old = await lost.keys.create('acc_eu_ada', { preset: 'ingest' }, 'operator');
  const token = await lost.token();
  const rows = await fixture.rows();
  const { store } = fixture;
  const write = store.write.bind(store);
  const written: number[] = [];
  store.write = async (operations) => {
    written.push(operations.length);
    throw new Error('the disk is gone');
  };
  await lost.lostKeys.replace(token, [old.key.id]).then(
    () => assert.unreachable(),
    () => undefined,
  );
  assert.equal(written, [5], 'the link, two rows of the old key, two of the new one');
  assert.equal(await fixture.rows(), rows);
  store.write = write;
  await fixture.reopen();
  await lost.restart();
  assert.is((await lost.lostKeys.replace(token, [old.key.id])).revoked.length, 1);
});

test('an account that has all the keys that it may have gets one in the place of lost ones, past all room where one ends', async () => {
  await using lost = await LostKeyFixture.open();
  const { fixture, keys } = lost;
  for (let i = 0; i < MAX_KEYS; i++) await keys.create('acc_eu_ada', { preset: 'ingest' }, 'operator');
  const [first, second] = await keys.list('acc_eu_ada');
  const { apiKey: spare } = await keys.rotate('acc_eu_ada', second?.id ?? '', 3600, 'operator');
  for (let i = 0; i < MAX_KEYS_OF_ALL - MAX_KEYS; i++) {
    fixture.now += DAY_MS / 4;
    await lost.lostKeys.replace(await lost.token(), []);
  }
  assert.is.not(typeof (await fixture.accounts.authenticate(spare)), 'string');
  fixture.now += DAY_MS;
  const token = await lost.token();
  const { code, message } = await refused(lost.lostKeys.replace(token, []));
  assert.equal([code, message], ['too-many-keys', 'an account has at most 128 such keys; revoke one first']);
  const { key } = await lost.lostKeys.replace(token, [first?.id ?? '']);
  const now = await keys.list('acc_eu_ada');
  assert.equal([now.length, now.some(({ id }) => id === first?.id), now.at(-1)?.id], [MAX_KEYS_OF_ALL, false, key.id]);
  const last = await keys.rotate('acc_eu_ada', key.id, 3600, 'operator');
  assert.is(Date.parse(last.replaced.expiresAt ?? ''), fixture.now, 'no room for both');
  assert.is((await keys.list('acc_eu_ada')).length, MAX_KEYS_OF_ALL);
});

test('a mail that is not taken leaves a link that ends by itself, and the next request brings another', async () => {
  await using lost = await LostKeyFixture.open();
  let tries = 0;
  lost.onMail = async () => {
    if (++tries === 1) throw new MailError('unreachable', 'gone');
  };
  lost.lostKeys.request(ADA, FROM, ANSWERED);
  await until('the first mail failed', () => tries === 1);
  await lost.lostKeys.open(await lost.token());
  assert.equal([lost.mails.length, (await lost.links()).length], [1, 1]);
});

test('a node without mail takes none, and what is no address is not counted', async () => {
  await using lost = await LostKeyFixture.open();
  const { store, accounts } = lost.fixture;
  const limits = new SignUpLimits(() => 0);
  const options = {
    store,
    accountStore: accounts.accountStore,
    keys: accounts.keys,
    limits,
    nodeUrl: () => NODE_URL,
    log,
  };
  await using mute = new LostKeys({ ...options, mailer: null });
  assert.is(
    codeOf(() => mute.request(ADA, FROM, ANSWERED)),
    'no-mail',
  );
  await using other = new LostKeys({ ...options, mailer: { send: async () => {} } });
  for (let i = 0; i < 20; i++) {
    assert.is(
      codeOf(() => other.request('ada@localhost', FROM, ANSWERED)),
      'email-invalid',
    );
  }
  assert.is(
    codeOf(() => other.request(ADA, FROM, ANSWERED)),
    'it was taken',
  );
});

test('an address has only so many mails a day, with an account and without, together with sign-ups', async () => {
  await using lost = await LostKeyFixture.open();
  for (const email of [ADA, 'nobody@example.org']) {
    const asked = Array.from({ length: SIGN_UP_ALLOWANCE.mailsPerRecipientAndDay + 1 }, () =>
      codeOf(() => lost.lostKeys.request(email, FROM, ANSWERED)),
    );
    assert.equal([asked.at(-2), asked.at(-1)], ['it was taken', 'rate-limited'], email);
    lost.fixture.now += 3_600_000;
  }
});

test('what is under way when the node ends is given up, also where an answer is never sent', async () => {
  const lost = await LostKeyFixture.open();
  lost.lostKeys.request(ADA, FROM, new Promise(() => {}));
  await lost[Symbol.asyncDispose]();
  assert.equal(lost.mails, []);
});

test.run();
