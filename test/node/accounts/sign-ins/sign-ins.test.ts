import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_SIGN_INS } from '../../../../node/accounts/sign-ins/sign-ins.ts';
import type { MailedTerms } from '../../../../node/accounts/api-keys.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { BrowserClient } from '../../http/console/browser-client.ts';
import { invitedByMail, signedInByMail } from '../../http/console/mailed-sign-in.ts';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({ config: { mail: sink.config } });
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/** Somebody who is signed in by mail, the state of their key, and what they made by it. */
async function withCalendar(email: string) {
  const owner = { key: API_KEYS.enterprise };
  const { personId, browser } = await invitedByMail(node, sink, { email, role: 'compliance' }, owner);
  const hidden = await browser.hidden('/console/forms/calendar');
  const made = await browser.post('/console/forms/calendar', hidden);
  const [path = ''] = /\/v1\/calendar\/[\w-]{43}\/due\.ics/.exec(made.text) ?? [];
  const look = async () => {
    const { keys } = (await node.get('/v1/keys', owner)).body;
    const states = Array.isArray(keys) ? keys.filter(({ name }) => name === personId).map(({ status }) => status) : [];
    return [states, (await node.get(path)).status];
  };
  assert.equal(await look(), [['active'], 200]);
  return { browser, personId, owner, look, token: hidden.token ?? '' };
}

test('the key of who came by mail ends with the sign-in, and with it what was made by it', async () => {
  const left = await withCalendar('leaves@example.org');
  assert.is((await left.browser.post('/console/sign-out', { token: left.token })).status, 303);
  assert.equal(await left.look(), [['revoked'], 404], 'signed out');

  const ended = await withCalendar('ended@example.org');
  const { signIns } = (await node.get('/v1/sign-ins', ended.owner)).body;
  const { signInId } = Object(signIns).find(({ holder }: JsonObject) => holder === ended.personId);
  assert.is((await node.send('DELETE', `/v1/sign-ins/${signInId}`, undefined, ended.owner)).status, 200);
  assert.equal(await ended.look(), [['revoked'], 404], 'ended by the account');

  const displaced = await withCalendar('displaced@example.org');
  const { context } = node;
  const found = await context.accounts.authenticate(API_KEYS.enterprise);
  if (typeof found === 'string') throw new Error(found);
  for (let n = 0; n < MAX_SIGN_INS; n++) await context.signIns.create(found.caller, '127.0.0.1');
  assert.equal(await displaced.look(), [['revoked'], 404], 'displaced by newer ones');
});

test('sign-ins by mail that fill an account keep nobody from signing in, and its keys from nothing', async () => {
  const email = 'filled@example.org';
  await node.post('/v1/sign-up', { email });
  const [key = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(email)).text) ?? [];
  const first = await signedInByMail(node, sink, email);
  const { accounts, signIns } = node.context;
  const own = await accounts.authenticate(key);
  if (typeof own === 'string') throw new Error(own);
  const account = own.caller.account.id;
  const terms: MailedTerms = {
    by: 'sign-in',
    name: 'console, by mail',
    holder: 'owner',
    signIn: true,
    expiresAt: timestampOf(Date.now() + 3_600_000),
  };
  for (let n = 1; n < MAX_SIGN_INS; n++) {
    const { apiKey } = await accounts.keys.replaceLost(async () => ({ account, operations: [] }), [], terms);
    const found = await accounts.authenticate(apiKey);
    if (typeof found === 'string') throw new Error(found);
    await signIns.create(found.caller, '127.0.0.1', { holder: 'owner', secondFactor: null });
  }
  assert.is((await first.get('/console')).status, 200);
  const last = await signedInByMail(node, sink, email);
  assert.is((await last.get('/console')).status, 200);
  assert.is((await first.get('/console')).status, 303, 'the oldest ended');
  assert.is((await signIns.list(account)).length, MAX_SIGN_INS);
  const made = await node.post('/v1/keys', { preset: 'ingest' }, { key });
  assert.is(made.status, 200, made.text);
  assert.is((await node.post(`/v1/keys/${own.caller.key.id}/rotate`, {}, { key })).status, 200);
  await node.post('/v1/lost-key', { email }, { key: null });
  const [, link = ''] = /(\/v1\/lost-key\/[\w-]{43})$/m.exec((await sink.waitForMail(email)).text) ?? [];
  const replaced = await node.post(link, { revoke: [] }, { key: null });
  assert.is(replaced.status, 200, replaced.text);
});

test('an API key that somebody makes who came by mail goes on after the sign-out', async () => {
  const { browser } = await invitedByMail(
    node,
    sink,
    { email: 'maker@example.org', role: 'admin' },
    {
      key: API_KEYS.enterprise,
    },
  );
  const hidden = await browser.hidden('/console/forms/key');
  const made = await browser.post('/console/forms/key', { ...hidden, preset: 'auditor' });
  const [key = null] = /mk_eu_[\w-]{20,}/.exec(made.text) ?? [];
  assert.is((await browser.post('/console/sign-out', { token: hidden.token ?? '' })).status, 303);
  assert.is((await node.get('/v1/attestations', { key })).status, 200);
});

test('a key that somebody has goes on after the sign-in by it', async () => {
  const made = await node.post('/v1/keys', { preset: 'auditor' }, { key: API_KEYS.enterprise });
  const browser = new BrowserClient(node);
  await browser.signIn(String(made.body.apiKey));
  const { token = '' } = await browser.hidden('/console/forms/calendar');
  assert.is((await browser.post('/console/sign-out', { token })).status, 303);
  assert.is((await node.get('/v1/attestations', { key: String(made.body.apiKey) })).status, 200);
});

test.run();
