import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { requireProblem } from '../problem-shape.ts';
import { BrowserClient } from './browser-client.ts';
import { invitedByMail } from './mailed-sign-in.ts';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({ config: { mail: sink.config } });
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const ADA = 'ada@example.org';
const GRACE = 'grace@example.org';
const JOAN = 'joan@example.org';
const visitor = new BrowserClient(node);

/** The path of a page of this node that a mail leads to. */
async function pageMailed(address: string): Promise<string> {
  const { text } = await sink.waitForMail(address);
  const [, path] = /^http:\/\/127\.0\.0\.1:\d+(?:\/verify)?(\/lost-key\/[A-Za-z0-9_-]{43})$/m.exec(text) ?? [];
  if (path === undefined) throw new Error(`no page in ${text}`);
  return path;
}

async function signedUp(address: string): Promise<void> {
  await visitor.post('/sign-up', { email: address });
  await sink.waitForMail(address);
}

test('a person signs up, signs in, loses the key and replaces it, all in a browser', async () => {
  assert.match((await visitor.get('/sign-up')).text, /name="email"/);
  const { status, text } = await visitor.post('/sign-up', { email: ADA });
  assert.is(status, 200, text);
  const [key = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(ADA)).text) ?? [];
  const browser = new BrowserClient(node);
  assert.is((await browser.signIn(key)).status, 303);
  assert.is((await browser.get('/console')).status, 200);

  assert.is((await visitor.post('/lost-key', { email: ADA })).status, 200);
  const path = await pageMailed(ADA);
  const shown = await visitor.get(path);
  assert.is(shown.status, 200, shown.text);
  assert.is(shown.headers.get('x-robots-tag'), 'noindex');
  assert.not.match(shown.text, new RegExp(key));
  const [, flag = ''] = /name="(revoke\.[^"]+)"/.exec(shown.text) ?? [];
  const made = await visitor.post(path, { [flag]: 'yes' });
  const [fresh = ''] = /mk_eu_[\w-]{20,}/.exec(made.text) ?? [];
  assert.ok(fresh !== '' && fresh !== key, made.text);
  assert.is((await browser.get('/console')).status, 303, 'the sign-in ends with the key that was lost');
  assert.is((await new BrowserClient(node).signIn(fresh)).status, 303);
  assert.is((await visitor.get(path)).status, 404, 'the link works once');
});

test('whoever reads the mail of an account signs in by a link, once, by a key that ends with the sign-in', async () => {
  await signedUp(GRACE);
  const asked = await visitor.post('/console/mail', { email: GRACE });
  assert.is(asked.status, 200, asked.text);
  const { text } = await sink.waitForMail(GRACE);
  const [, path = ''] = /^http:\/\/127\.0\.0\.1:\d+(?:\/verify)?(\/console\/enter\/[\w-]{43})$/m.exec(text) ?? [];
  for (let looks = 0; looks < 2; looks++) assert.match((await visitor.get(path)).text, /<button type="submit">Sign in/);
  assert.is((await visitor.post(path, {}, { site: 'cross-site' })).status, 403);
  assert.is((await visitor.get(path.replace('/console/enter/', '/lost-key/'))).status, 404, 'it replaces no key');
  const browser = new BrowserClient(node);
  const entered = await browser.post(path, {});
  assert.is(entered.status, 303, entered.text);
  browser.cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0];
  const keys = await browser.get('/v1/keys');
  assert.is(keys.status, 200, keys.text);
  const own = JSON.parse(keys.text).keys.find(({ name }: { name: string | null }) => name === 'console, by mail');
  assert.ok(Date.parse(own.expiresAt) - Date.now() <= 12 * 3_600_000);
  assert.not.match(entered.text + text, /mk_eu_/);
  assert.is((await visitor.get(path)).status, 404);
  assert.is((await visitor.post(path, {})).status, 404);
});

test('a link for lost keys signs nobody in, and a newer link ends the one before', async () => {
  await signedUp(JOAN);
  await visitor.post('/lost-key', { email: JOAN });
  const lost = await pageMailed(JOAN);
  assert.is((await visitor.get(lost.replace('/lost-key/', '/console/enter/'))).status, 404);
  await visitor.post('/console/mail', { email: JOAN });
  await sink.waitForMail(JOAN);
  assert.is((await visitor.get(lost)).status, 404);
});

test('a person who is invited signs in by mail in a role, may do no more, and is out at once when removed', async () => {
  const owner = { key: API_KEYS.enterprise };
  const asked = { email: 'auditor@example.org', role: 'auditor' };
  const invited = await node.post('/v1/people', asked, owner);
  assert.is(invited.status, 200, invited.text);
  assert.match((await sink.waitForMail(asked.email)).text, '/console/sign-in');
  requireProblem(
    await node.post('/v1/people', { ...asked, email: 'Auditor@Example.org' }, owner),
    'person-exists',
    'twice',
  );
  const { expiresAt } = Object(invited.body.person);
  assert.ok(Date.parse(expiresAt) > Date.now(), 'an auditor has an end');
  await visitor.post('/console/mail', { email: asked.email });
  const browser = await enteredBy(asked.email);
  assert.is((await browser.get('/console/records')).status, 200);
  assert.is((await browser.get('/v1/people')).status, 403);
  const hidden = await browser.hidden('/console/forms/session-start');
  assert.is((await browser.post('/console/forms/session-start', { ...hidden, sourceId: 's' })).status, 403);
  const other = { key: API_KEYS.developer };
  const { personId } = invited.body;
  requireProblem(
    await node.send('DELETE', `/v1/people/${String(personId)}`, undefined, other),
    'person-not-found',
    'other',
  );
  assert.is((await node.send('DELETE', `/v1/people/${String(personId)}`, undefined, owner)).status, 200);
  assert.is((await browser.get('/console')).status, 303, 'out at once');
  const before = sink.kept.length;
  await visitor.post('/console/mail', { email: asked.email });
  await visitor.post('/console/mail', { email: GRACE });
  await sink.waitForMail(GRACE);
  assert.is(sink.kept.slice(before).filter(({ to }) => to.includes(asked.email)).length, 0, 'no link any more');
});

test('with a person ends every key that is theirs, also one that is made meanwhile, and no other', async () => {
  const owner = { key: API_KEYS.enterprise };
  const { personId, browser } = await invitedByMail(node, sink, { email: 'left@example.org', role: 'admin' }, owner);
  const fields = { ...(await browser.hidden('/console/forms/key')), preset: 'admin', name: 'mine' };
  const [key = ''] = /mk_eu_[\w-]{20,}/.exec((await browser.post('/console/forms/key', fields)).text) ?? [];
  const made = async (ask: { readonly key: string }, name: string) =>
    (await node.post('/v1/keys', { preset: 'admin', name }, ask)).body;
  const second = await made({ key }, 'made by that');
  const third = (await node.post(`/v1/keys/${Object(second.key).id}/rotate`, { overlapSeconds: 60 }, owner)).body;
  const namesake = await made(owner, personId);
  const works = async (apiKey: unknown) => (await node.get('/v1/account', { key: String(apiKey) })).status === 200;
  const theirs = [key, second.apiKey, third.apiKey];
  assert.equal(await Promise.all([...theirs, namesake.apiKey].map(works)), [true, true, true, true]);
  const meanwhile = Array.from({ length: 20 }, () => made({ key }, 'made meanwhile'));
  const removed = node.send('DELETE', `/v1/people/${personId}`, undefined, owner);
  assert.is((await removed).status, 200);
  const all = [...theirs, ...(await Promise.all(meanwhile)).map(({ apiKey }) => apiKey ?? 'none')];
  assert.equal(await Promise.all(all.map(works)), Array(all.length).fill(false));
  assert.ok(await works(namesake.apiKey), 'a name makes nobody somebody');
  requireProblem(await node.get('/v1/account', { key }), 'api-key-revoked', 'revoked');
  const ended = { action: 'key.revoked', by: 'node', subject: Object(second.key).id };
  const { entries } = Object((await node.get('/v1/audit-log?limit=200', owner)).body);
  assert.ok(entries.some((line: JsonObject) => Object.entries(ended).every(([name, value]) => line[name] === value)));
});

const LIMITS: readonly JsonObject[] = [
  { scopes: ['keys:admin', 'proof:read'] },
  { preset: 'admin', sources: ['one'] },
  { preset: 'admin', from: '2020-01-01T00:00:00Z' },
  { preset: 'admin', to: '2020-12-31T00:00:00Z' },
];

for (const limits of LIMITS) {
  const [member = ''] = Object.keys(limits).slice(-1);
  test(`a key invites nobody who may do or see more than itself, limited by its ${member}`, async () => {
    const made = await node.post('/v1/keys', limits, { key: API_KEYS.enterprise });
    const invited = { email: 'x@example.org', role: 'admin' };
    const answer = await node.post('/v1/people', invited, { key: String(made.body.apiKey) });
    requireProblem(answer, 'scope-forbidden', member);
  });
}

test('nobody is invited for longer than who invites: by a key until its end, by a sign-in until that of the person', async () => {
  const owner = { key: API_KEYS.enterprise };
  const end = new Date(Date.now() + 3_600_000).toISOString();
  const made = await node.post('/v1/keys', { preset: 'admin', expiresAt: end, name: 'console, by mail' }, owner);
  const ending = { key: String(made.body.apiKey) };
  const longer = { email: 'long@example.org', role: 'admin', expiresAt: null };
  requireProblem(await node.post('/v1/people', longer, ending), 'scope-forbidden', 'no end', 'expiresAt');
  const { browser } = await invitedByMail(node, sink, { email: 'hour@example.org', role: 'admin' }, ending);
  const endless = await invitedByMail(node, sink, { email: 'staff@example.org', role: 'admin' }, owner);
  const endOf = async (by: BrowserClient, email: string) => {
    const hidden = await by.hidden('/console/forms/person');
    const { status, text } = await by.post('/console/forms/person', { ...hidden, email, role: 'compliance' });
    assert.is(status, 200, text);
    const { people } = Object((await node.get('/v1/people', owner)).body);
    return people.find((one: JsonObject) => one.email === email).expiresAt;
  };
  assert.is(await endOf(browser, 'guest@example.org'), end);
  assert.is(await endOf(endless.browser, 'colleague@example.org'), null);

  const fields = { ...(await endless.browser.hidden('/console/forms/key')), preset: 'admin', expiresAt: end };
  const [key = null] = /mk_eu_[\w-]{20,}/.exec((await endless.browser.post('/console/forms/key', fields)).text) ?? [];
  requireProblem(await node.post('/v1/people', longer, { key }), 'scope-forbidden', 'a key of a person', 'expiresAt');
});

const WEAK: readonly JsonObject[] = [{ scopes: ['keys:admin', 'proof:read'] }, ...LIMITS.slice(1)];

test('who reaches further than a key is neither removed nor signed out by it', async () => {
  const owner = { key: API_KEYS.enterprise };
  const invitation = { email: 'boss@example.org', role: 'admin' };
  const { personId, browser } = await invitedByMail(node, sink, invitation, owner);
  const signIns = async () => JSON.parse((await browser.get('/v1/sign-ins')).text).signIns;
  const { signInId } = (await signIns()).find(({ holder }: JsonObject) => holder === personId);
  for (const limits of WEAK) {
    const made = await node.post('/v1/keys', limits, owner);
    const weak = { key: String(made.body.apiKey) };
    const what = JSON.stringify(limits);
    requireProblem(await node.send('DELETE', `/v1/people/${personId}`, undefined, weak), 'scope-forbidden', what);
    requireProblem(await node.send('DELETE', `/v1/sign-ins/${signInId}`, undefined, weak), 'scope-forbidden', what);
    const own = new BrowserClient(node);
    await own.signIn(weak.key);
    const [{ signInId: last }] = await signIns();
    assert.is((await node.send('DELETE', `/v1/sign-ins/${last}`, undefined, weak)).status, 200, 'its own sign-in');
  }
  assert.is((await browser.get('/console')).status, 200);
  assert.is((await node.send('DELETE', `/v1/sign-ins/${signInId}`, undefined, owner)).status, 200);
  assert.is((await browser.get('/console')).status, 303);
});

async function enteredBy(address: string): Promise<BrowserClient> {
  const { text } = await sink.waitForMail(address);
  const [, path = ''] = /^http:\/\/127\.0\.0\.1:\d+(?:\/verify)?(\/console\/enter\/[\w-]{43})$/m.exec(text) ?? [];
  const browser = new BrowserClient(node);
  const entered = await browser.post(path, {});
  assert.is(entered.status, 303, entered.text);
  browser.cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0];
  return browser;
}

test('what is no address is refused with words, and known and unknown ones are answered alike', async () => {
  const wrong = await visitor.post('/sign-up', { email: 'no address' });
  assert.is(wrong.status, 400);
  assert.match(wrong.text, /▲ email/);
  const known = await visitor.post('/lost-key', { email: ADA });
  const unknown = await visitor.post('/lost-key', { email: 'nobody@example.org' });
  assert.is(known.text, unknown.text);
  const links = [ADA, 'nobody@example.org'].map((email) => visitor.post('/console/mail', { email }));
  const [forKnown, forUnknown] = await Promise.all(links);
  assert.equal([forKnown?.status, forKnown?.text], [forUnknown?.status, forUnknown?.text]);
});

test('a link that was guessed, one that is spent and one for something else are told of in the same words', async () => {
  const email = 'linked@example.org';
  await signedUp(email);
  await visitor.post('/console/mail', { email });
  const { text } = await sink.waitForMail(email);
  const [, path = ''] = /(\/console\/enter\/[\w-]{43})$/m.exec(text) ?? [];
  await visitor.post(path, {});
  const guessed = `/console/enter/${'A'.repeat(43)}`;
  const other = path.replace('/console/enter/', '/lost-key/');
  const told = await Promise.all([path, guessed].map((one) => visitor.get(one)));
  assert.equal(new Set(told.map((answer) => `${answer.status} ${answer.text.replaceAll(/[\w-]{43}/g, '')}`)).size, 1);
  assert.is((await visitor.get(other)).status, 404);
});

test('another page’s form sends no mail and replaces no key', async () => {
  const before = sink.kept.length;
  for (const path of ['/sign-up', '/lost-key']) {
    const answer = await visitor.post(path, { email: 'eve@example.org' }, { site: 'cross-site' });
    assert.is(answer.status, 403, path);
  }
  assert.is(sink.kept.filter(({ to }) => to.includes('eve@example.org')).length, 0);
  assert.ok(sink.kept.length >= before);
});

test.run();
