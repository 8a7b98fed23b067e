import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ADDRESS_ALLOWANCE, SIGN_UP_ALLOWANCE } from '../../../../node/accounts/limits/allowances.ts';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { createMailer, type Mailer } from '../../../../node/accounts/mail/mailer.ts';
import { SignUpError, SignUpLimits } from '../../../../node/accounts/sign-up/sign-up-limits.ts';
import { SignUp, type SignUpRequest } from '../../../../node/accounts/sign-up/sign-up.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { AccountFixture, EU, HOUR_MS, refusal, US } from '../account-fixture.ts';

const NODE_URL = 'https://eu.example/verify';
const KEY_TEXT = /mk_eu_[A-Za-z0-9_-]{49}/;

const sink = await TestMailSink.start();
const mailer = createMailer(sink.config);
test.after(async () => {
  await mailer[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

let callers = 0;
let people = 0;

function newAddress(): string {
  return `person-${++people}@example.org`;
}

interface Setting {
  readonly mailer?: Pick<Mailer, 'send'> | null;
  readonly isOpen?: boolean;
  readonly now?: () => number;
}

function signUpOf(fixture: AccountFixture, { isOpen = true, now = () => 0, ...setting }: Setting = {}) {
  const limits = new SignUpLimits(now);
  const sender = setting.mailer === undefined ? mailer : setting.mailer;
  const signUp = new SignUp({
    store: fixture.store,
    accountStore: fixture.accounts.accountStore,
    mailer: sender,
    limits,
    isOpen,
    nodeUrl: () => NODE_URL,
  });
  /** From an internet address of its own unless one is given. */
  return (email: string, from = `192.0.2.${++callers % 250}`, more: Omit<SignUpRequest, 'email'> = {}) =>
    signUp.request({ email, ...more }, from);
}

async function keyMailed(to: string): Promise<string> {
  const { text } = await sink.waitForMail(to);
  const [apiKey] = KEY_TEXT.exec(text) ?? [];
  if (apiKey === undefined) throw new Error(`no key in ${text}`);
  return apiKey;
}

async function codeOf(attempt: Promise<void>): Promise<string> {
  const error: unknown = await attempt.then(
    () => 'it was taken',
    (thrown: unknown) => thrown,
  );
  return error instanceof SignUpError || error instanceof LimitError ? error.code : String(error);
}

test('a new address gets an account of the Developer tier, and by mail its key', async () => {
  await using fixture = await AccountFixture.open();
  const to = newAddress();
  await signUpOf(fixture)(to);
  const mail = await sink.waitForMail(to);
  assert.is(mail.subject, 'Your Meridian API key');
  assert.is(mail.headers.get('content-transfer-encoding'), '7bit');
  const [apiKey = ''] = KEY_TEXT.exec(mail.text) ?? [];
  assert.match(mail.text, `${NODE_URL}/v1/tiered-attest`);
  const found = await fixture.accounts.authenticate(apiKey);
  if (typeof found === 'string') throw new Error(found);
  const { account, key } = found.caller;
  assert.match(account.id, /^acc_eu_/);
  assert.equal([account.tier, account.email], ['developer', to]);
  assert.ok(key.scopes.includes('keys:admin'));
  assert.equal(
    fixture.events.map(({ action, by }) => `${action} ${by}`),
    ['account.created sign-up', 'key.created sign-up'],
  );
  const bytes = await fixture.bytes();
  assert.not.ok(bytes.includes(apiKey));
});

test('a key that was never used makes way for a fresh one, of the same account', async () => {
  await using fixture = await AccountFixture.open();
  const signUp = signUpOf(fixture);
  const to = newAddress();
  await signUp(to);
  const first = await keyMailed(to);
  await signUp(to.toUpperCase());
  const second = await keyMailed(to);
  assert.is(await fixture.accounts.authenticate(first), 'unknown');
  assert.is.not(typeof (await fixture.accounts.authenticate(second)), 'string');
  assert.is((await fixture.accounts.accountStore.accounts(10)).length, 1);
  assert.equal(
    fixture.events.slice(2).map(({ action }) => action),
    ['key.revoked', 'key.created'],
  );
});

test('payloads are compressed for who signs up so; another sign-up changes that while no key was used, and never later', async () => {
  await using fixture = await AccountFixture.open();
  const signUp = signUpOf(fixture);
  const to = newAddress();
  const setting = async () => (await fixture.accounts.accountStore.accounts(1))[0]?.compressPayloads ?? false;
  let apiKey = '';
  for (const [asked, then] of [
    [true, true],
    [undefined, true],
    [false, false],
    [true, true],
  ] as const) {
    await signUp(to, '192.0.2.251', asked === undefined ? {} : { compressPayloads: asked });
    apiKey = await keyMailed(to);
    assert.is(await setting(), then);
  }
  assert.equal(
    fixture.events
      .filter(({ action }) => action === 'compression.changed')
      .map(({ subject, by }) => `${subject} ${by}`),
    ['off sign-up', 'on sign-up'],
  );
  await fixture.accounts.authenticate(apiKey);
  await signUp(to, '192.0.2.252', { compressPayloads: false });
  assert.is(await setting(), true);
});

test('nodes are named with a new account, and changed while it is unused; its statement is due whenever it names others', async () => {
  await using fixture = await AccountFixture.open();
  const signUp = signUpOf(fixture);
  const to = newAddress();
  const account = async () => (await fixture.accounts.accountStore.accounts(1))[0];
  const dueRows = async () => (await fixture.rows()).filter((row) => row.startsWith('statement-due/')).length;
  for (const [asked, then, due] of [
    [undefined, undefined, 0],
    [[US, EU], [EU, US], 1],
    [undefined, [EU, US], 2],
    [[EU], undefined, 3],
    [undefined, undefined, 3],
  ] as const) {
    await signUp(to, '192.0.2.251', asked === undefined ? {} : { nodes: asked });
    await keyMailed(to);
    assert.equal([(await account())?.nodes, await dueRows()], [then, due]);
  }
  const log = fixture.events
    .filter(({ action }) => action === 'nodes.changed')
    .map(({ subject, by }) => `${subject} ${by}`);
  assert.equal(log, ['eu,us sign-up', 'eu sign-up']);
  const strange = newAddress();
  for (const nodes of [[US], [EU, nodeId('jp')]]) {
    assert.is(await refusal(signUp(strange, '192.0.2.252', { nodes })), 'nodes-invalid');
  }
  await signUp(strange, '192.0.2.252', { nodes: [EU, US] });
  await keyMailed(strange);
  assert.is(await dueRows(), 4, 'one for the account and its key');
});

test('an address whose key is in use is told so: no key is made, none is ended, also right after the first use', async () => {
  await using fixture = await AccountFixture.open();
  const to = newAddress();
  await signUpOf(fixture)(to);
  const apiKey = await keyMailed(to);
  await fixture.accounts.authenticate(apiKey);
  for (const _restart of [false, true]) {
    const rows = (await fixture.rows()).length;
    await signUpOf(fixture)(to);
    const mail = await sink.waitForMail(to);
    assert.is(mail.subject, 'You already have a Meridian account');
    assert.not.match(mail.text, KEY_TEXT);
    assert.match(mail.text, 'rotate');
    assert.is((await fixture.rows()).length, rows);
    await fixture.reopen();
    assert.is.not(typeof (await fixture.accounts.authenticate(apiKey)), 'string');
  }
});

test('a first use that is being written just now is a use', async () => {
  await using fixture = await AccountFixture.open();
  const to = newAddress();
  await signUpOf(fixture)(to);
  const apiKey = await keyMailed(to);
  const { store } = fixture;
  const [get, write] = [store.get.bind(store), store.write.bind(store)];
  const [hasWritten, mayWrite] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The sign-up has the row of the key in hand while the use reaches the disk.
  store.get = async (key) => {
    const value = await get(key);
    if (isReading && key.startsWith('api-key/')) {
      mayWrite.resolve();
      await Promise.race([hasWritten.promise, new Promise((resolve) => setTimeout(resolve, 50))]);
    }
    return value;
  };
  store.write = async (operations) => {
    isReading = true;
    await Promise.race([mayWrite.promise, new Promise((resolve) => setTimeout(resolve, 50))]);
    await write(operations);
    hasWritten.resolve();
  };
  let isReading = false;
  await fixture.accounts.authenticate(apiKey);
  await signUpOf(fixture)(to);
  assert.not.match((await sink.waitForMail(to)).text, KEY_TEXT);
});

test('a key that the operator revoked is not given anew', async () => {
  await using fixture = await AccountFixture.open();
  const to = newAddress();
  await signUpOf(fixture)(to);
  await keyMailed(to);
  const [account] = await fixture.accounts.accountStore.accounts(1);
  const [key] = await fixture.accounts.keys.list(account?.id ?? '');
  await fixture.accounts.keys.revoke(account?.id ?? '', key?.id ?? '', 'operator');
  await signUpOf(fixture)(to);
  assert.not.match((await sink.waitForMail(to)).text, KEY_TEXT);
  assert.is((await fixture.accounts.keys.list(account?.id ?? '')).length, 1);
});

test('a key used or revoked while the mail is under way is not overruled', async () => {
  for (const step of ['use', 'revoke'] as const) {
    await using fixture = await AccountFixture.open();
    const to = newAddress();
    await signUpOf(fixture)(to);
    const first = await keyMailed(to);
    const [account] = await fixture.accounts.accountStore.accounts(1);
    const id = account?.id ?? '';
    const meanwhile = {
      async send(mail: Parameters<Mailer['send']>[0]) {
        const [key] = await fixture.accounts.keys.list(id);
        if (step === 'use') await fixture.accounts.authenticate(first);
        else await fixture.accounts.keys.revoke(id, key?.id ?? '', 'operator');
        await mailer.send(mail);
      },
    };
    await signUpOf(fixture, { mailer: meanwhile })(to);
    const second = await keyMailed(to);
    const states = await Promise.all([first, second].map((key) => fixture.accounts.authenticate(key)));
    assert.equal(
      states.map((state) => (typeof state === 'string' ? state : 'active')),
      step === 'use' ? ['active', 'active'] : ['revoked', 'unknown'],
    );
  }
});

test('a mail that is not taken leaves nothing behind, for a new address and for a known one', async () => {
  await using fixture = await AccountFixture.open();
  const gone = await TestMailSink.start();
  await gone[Symbol.asyncDispose]();
  await using dead = createMailer(gone.config);
  const to = newAddress();
  assert.is(await codeOf(signUpOf(fixture, { mailer: dead })(to)), 'not-sent');
  assert.equal(await fixture.rows(), []);
  assert.equal(fixture.events, []);
  await signUpOf(fixture)(to);
  const apiKey = await keyMailed(to);
  const rows = await fixture.rows();
  assert.is(await codeOf(signUpOf(fixture, { mailer: dead })(to)), 'not-sent');
  assert.equal(await fixture.rows(), rows);
  assert.is.not(typeof (await fixture.accounts.authenticate(apiKey)), 'string');
});

test('many sign-ups of one address at once make one account, and the key of the last mail works', async () => {
  await using fixture = await AccountFixture.open();
  const signUp = signUpOf(fixture);
  const to = newAddress();
  await Promise.all(Array.from({ length: SIGN_UP_ALLOWANCE.mailsPerRecipientAndDay }, () => signUp(to)));
  const keys: string[] = [];
  for (let i = 0; i < SIGN_UP_ALLOWANCE.mailsPerRecipientAndDay; i++) keys.push(await keyMailed(to));
  assert.is((await fixture.accounts.accountStore.accounts(10)).length, 1);
  const states = await Promise.all(keys.map((key) => fixture.accounts.authenticate(key)));
  assert.is(states.filter((state) => typeof state !== 'string').length, 1);
});

test('what is no address is refused before anything is sent or counted', async () => {
  await using fixture = await AccountFixture.open();
  const signUp = signUpOf(fixture);
  const bad = [
    '',
    'ada',
    'ada@',
    '@example.org',
    'ada@localhost',
    'ada@127.0.0.1',
    'ada@[127.0.0.1]',
    'ada@example',
    'ada@example..org',
    'ada@-example.org',
    'a..b@example.org',
    '.a@example.org',
    '"a b"@example.org',
    'Ada <ada@example.org>',
    'ada@example.org, bob@example.org',
    'ada@example.org\r\nBcc: bob@example.org',
    'ada@example.org\n',
    'ada\0@example.org',
    'adä@example.org',
    `${'a'.repeat(65)}@example.org`,
    `ada@${'a'.repeat(64)}.org`,
    `ada@${'a.'.repeat(130)}org`,
  ];
  const before = sink.kept.length;
  for (const email of bad) assert.is(await codeOf(signUp(email, '203.0.113.9')), 'email-invalid', email);
  assert.is(sink.kept.length, before);
  await signUp(newAddress(), '203.0.113.9');
});

test('one caller, and one recipient, have only so many mails sent; other callers and recipients are not affected', async () => {
  await using fixture = await AccountFixture.open();
  let now = 0;
  const signUp = signUpOf(fixture, { now: () => now });
  for (let i = 0; i < ADDRESS_ALLOWANCE.signUpsPerHour; i++) await signUp(newAddress(), `2001:db8::${i}`);
  assert.is(await codeOf(signUp(newAddress(), '2001:db8::ffff')), 'rate-limited');
  await signUp(newAddress(), '2001:db8:0:1::1');
  const to = newAddress();
  for (let i = 0; i < SIGN_UP_ALLOWANCE.mailsPerRecipientAndDay; i++) await signUp(to);
  const before = sink.kept.length;
  assert.is(await codeOf(signUp(to.toUpperCase())), 'rate-limited');
  assert.is(sink.kept.length, before);
  now += HOUR_MS;
  await signUp(newAddress(), '2001:db8::ffff');
  assert.is(await codeOf(signUp(to)), 'rate-limited');
  now += 23 * HOUR_MS;
  await signUp(to);
});

test('a node without mail, or with sign-up turned off, takes none', async () => {
  await using fixture = await AccountFixture.open();
  assert.is(await codeOf(signUpOf(fixture, { mailer: null })(newAddress())), 'no-mail');
  assert.is(await codeOf(signUpOf(fixture, { isOpen: false })(newAddress())), 'closed');
  assert.equal(await fixture.rows(), []);
});

test.run();
