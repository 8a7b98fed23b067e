import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TOTP, URI } from 'otpauth';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { requireProblem } from '../problem-shape.ts';
import { BrowserClient } from './browser-client.ts';

const STEP_MS = 30_000;
const sink = await TestMailSink.start();
/** Codes are good once, and for a while: the clock is moved on. */
let ahead = 0;
const network = await TestNetwork.start({
  config: { mail: sink.config },
  overrides: { now: () => Date.now() + ahead },
});
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const owner = { key: API_KEYS.enterprise };
const visitor = new BrowserClient(node);
let people = 0;

/** Somebody who is invited, and what they show. */
interface Invited {
  readonly email: string;
  readonly personId: string;
}

async function invited(role = 'compliance'): Promise<Invited> {
  const email = `person${++people}@example.org`;
  const { status, text, body } = await node.post('/v1/people', { email, role }, owner);
  assert.is(status, 200, text);
  await sink.waitForMail(email);
  return { email, personId: String(body.personId) };
}

async function linkTo(email: string): Promise<string> {
  await visitor.post('/console/mail', { email });
  const { text } = await sink.waitForMail(email);
  const [, path = ''] = /^http:\/\/127\.0\.0\.1:\d+(?:\/verify)?(\/console\/enter\/[\w-]{43})$/m.exec(text) ?? [];
  assert.is.not(path, '', text);
  return path;
}

/** Signs in by a link. */
async function enter(path: string, shown: Readonly<Record<string, string>> = {}): Promise<BrowserClient> {
  const browser = new BrowserClient(node);
  const { status, text, headers } = await browser.post(path, shown);
  assert.is(status, 303, text);
  browser.cookie = (headers.get('set-cookie') ?? '').split(';')[0];
  return browser;
}

/** What the picture of a page says. */
function setUpBy(html: string): { readonly totp: TOTP; readonly id: string; readonly token: string } {
  const [, secret = ''] = />([A-Z2-7]{32})</.exec(html) ?? [];
  const [, id = ''] = /name="id" value="(sfa_[^"]+)"/.exec(html) ?? [];
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(html) ?? [];
  const totp = URI.parse(`otpauth://totp/x?secret=${secret}&algorithm=SHA1&digits=6&period=30`);
  if (!(totp instanceof TOTP)) throw new TypeError('the page shows no app');
  return { totp, id, token };
}

/** The code of now, which moves on by a step: none is taken twice. */
function codeOf(totp: TOTP): string {
  ahead += STEP_MS;
  return totp.generate({ timestamp: Date.now() + ahead });
}

/** Somebody with an app, still signed in. */
async function withApp() {
  const person = await invited();
  const browser = await enter(await linkTo(person.email));
  const { totp, id, token } = setUpBy((await browser.get('/console/second-factor')).text);
  const added = await browser.post('/console/second-factor/totp', { token, id, name: 'Telephone', code: codeOf(totp) });
  assert.is(added.status, 200, added.text);
  const codes = added.text.match(/\b[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}\b/g) ?? [];
  await sink.waitForMail(person.email);
  return { ...person, browser, totp, id, token, codes };
}

async function factors(): Promise<readonly JsonObject[]> {
  const { status, text, body } = await node.get('/v1/second-factors', owner);
  assert.is(status, 200, text);
  return objectsOf(body.items);
}

async function factorsOf(person: string): Promise<JsonObject | undefined> {
  return (await factors()).find(({ holder }) => holder === person);
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return value !== undefined && isJsonArray(value) ? value.filter(isJsonObject) : [];
}

test('an app is set up by a picture and a code, its holder is told, and a link alone signs nobody in then', async () => {
  const { email, personId, totp, codes } = await withApp();
  assert.is(codes.length, 10);
  const held = await factorsOf(personId);
  assert.is(held?.recoveryCodesLeft, 10);
  const path = await linkTo(email);
  assert.match((await visitor.get(path)).text, /name="code"/);
  const alone = await visitor.post(path, {});
  assert.is(alone.status, 403);
  assert.is(alone.headers.get('set-cookie'), null);
  const browser = await enter(path, { code: codeOf(totp) });
  assert.is((await browser.get('/console')).status, 200);
  const [newest] = objectsOf((await node.get('/v1/sign-ins', owner)).body.signIns);
  assert.equal([newest?.holder, newest?.secondFactor], [personId, 'totp']);
  const log = await node.get('/v1/audit-log?limit=50', owner);
  for (const action of ['second-factor.added', 'second-factor.shown']) assert.match(log.text, action);
});

test('a code is taken once, and none that is older', async () => {
  const { email, totp } = await withApp();
  const code = codeOf(totp);
  await enter(await linkTo(email), { code });
  const again = await linkTo(email);
  assert.is((await visitor.post(again, { code })).status, 403, 'the same');
  const older = totp.generate({ timestamp: Date.now() + ahead - STEP_MS });
  assert.is((await visitor.post(again, { code: older })).status, 403, 'the one before');
  await enter(again, { code: codeOf(totp) });
});

test('five codes are tried by a link, however they come; then it is none', async () => {
  const { email, totp } = await withApp();
  const path = await linkTo(email);
  for (let tries = 0; tries < 5; tries++) assert.is((await visitor.post(path, { code: `00000${tries}` })).status, 403);
  assert.is((await visitor.post(path, { code: codeOf(totp) })).status, 404);
  const other = await linkTo(email);
  const crowd = await Promise.all(
    Array.from({ length: 12 }, (_, i) => visitor.post(other, { code: `00000${i % 10}` })),
  );
  assert.ok(crowd.filter(({ status }) => status === 403).length <= 5);
  assert.is((await visitor.post(other, { code: codeOf(totp) })).status, 404);
});

test('twenty wrong codes a day are judged by all links; then a right one is 429 beside a link that still works', async () => {
  const { email, totp } = await withApp();
  for (let links = 0; links < 4; links++) {
    const path = await linkTo(email);
    for (let tries = 0; tries < 5; tries++) assert.is((await visitor.post(path, { code: '000000' })).status, 403);
  }
  const path = await linkTo(email);
  const { status, text } = await visitor.post(path, { code: codeOf(totp) });
  assert.is(status, 429, text);
  assert.match(text, 'Too many wrong codes');
  assert.match(text, 'name="code"');
  assert.is((await visitor.get(path)).status, 200);
});

test('a recovery code is good once, in whatever case it is typed', async () => {
  const { email, codes, personId } = await withApp();
  const [code = ''] = codes;
  await enter(await linkTo(email), { code: code.toLowerCase().replaceAll('-', ' ') });
  assert.is((await visitor.post(await linkTo(email), { code })).status, 403);
  const held = await factorsOf(personId);
  assert.is(held?.recoveryCodesLeft, 9);
});

test('who takes one away, or renews the codes, shows one; nobody else does it for them by a form', async () => {
  const { browser, token, id, totp, codes } = await withApp();
  const stranger = await withApp();
  assert.is((await browser.post('/console/second-factor/remove', { token, id })).status, 403);
  const foreign = { token: stranger.token, id, code: codeOf(totp) };
  assert.is((await browser.post('/console/second-factor/remove', foreign)).status, 403, 'another sign-in’s token');
  const other = { token: stranger.token, id, code: codeOf(stranger.totp) };
  assert.is((await stranger.browser.post('/console/second-factor/remove', other)).status, 404, 'another’s');
  const renewed = await browser.post('/console/second-factor/codes', { token, code: codeOf(totp) });
  assert.is(renewed.status, 200, renewed.text);
  assert.is((await browser.post('/console/second-factor/codes', { token, code: codes[1] ?? '' })).status, 403, 'void');
  const gone = await browser.post('/console/second-factor/remove', { token, id, code: codeOf(totp) });
  assert.is(gone.status, 200, gone.text);
  assert.match(gone.text, /Nothing is shown beside the link/);
});

test('a name that is none and an id that is none are refused with words, and change nothing', async () => {
  const { email } = await invited();
  const browser = await enter(await linkTo(email));
  const { totp, id, token } = setUpBy((await browser.get('/console/second-factor')).text);
  const code = codeOf(totp);
  for (const more of [{ name: 'x'.repeat(101) }, { name: '\u0001' }, { id: 'sfa_eu_x' }, { id: '' }]) {
    const answer = await browser.post('/console/second-factor/totp', { token, id, name: '', code, ...more });
    assert.is(answer.status, 400, JSON.stringify(more));
    assert.match(answer.text, /▲ (?:id|name) is/);
  }
  assert.is((await browser.post('/console/second-factor/totp', { token, id, name: '', code })).status, 200);
});

test('an account takes away what somebody lost, and with a person goes what they show', async () => {
  const { email, personId } = await withApp();
  const path = `/v1/second-factors/${personId}`;
  requireProblem(
    await node.send('DELETE', path, undefined, { key: API_KEYS.developer }),
    'second-factor-not-found',
    '',
  );
  assert.is((await node.send('DELETE', path, undefined, owner)).status, 200);
  requireProblem(await node.send('DELETE', path, undefined, owner), 'second-factor-not-found', 'twice');
  await sink.waitForMail(email);
  await enter(await linkTo(email));
  const leaving = await withApp();
  assert.is((await node.send('DELETE', `/v1/people/${leaving.personId}`, undefined, owner)).status, 200);
  assert.is(await factorsOf(leaving.personId), undefined);
});

test('a key takes away nothing of who reaches further than itself', async () => {
  const { personId } = await withApp();
  const path = `/v1/second-factors/${personId}`;
  const weak: readonly JsonObject[] = [
    { scopes: ['keys:admin'] },
    { preset: 'admin', sources: ['one'] },
    { preset: 'admin', from: '2020-01-01T00:00:00Z' },
  ];
  for (const limits of weak) {
    const made = await node.post('/v1/keys', limits, owner);
    const ask = { key: String(made.body.apiKey) };
    requireProblem(await node.send('DELETE', path, undefined, ask), 'scope-forbidden', JSON.stringify(limits));
  }
  const made = await node.post('/v1/keys', { preset: 'admin' }, owner);
  assert.is((await node.send('DELETE', path, undefined, { key: String(made.body.apiKey) })).status, 200);
});

test('the owner shows it for lost keys too: whoever reads the mail alone has no key made', async () => {
  const email = 'owner@example.org';
  await visitor.post('/sign-up', { email });
  await sink.waitForMail(email);
  const browser = await enter(await linkTo(email));
  const { totp, id, token } = setUpBy((await browser.get('/console/second-factor')).text);
  await browser.post('/console/second-factor/totp', { token, id, name: '', code: codeOf(totp) });
  await sink.waitForMail(email);
  await visitor.post('/lost-key', { email });
  const [, link = ''] = /(\/v1\/lost-key\/[\w-]{43})$/m.exec((await sink.waitForMail(email)).text) ?? [];
  const bare = { key: null };
  assert.is((await node.get(link, bare)).body.secondFactor, true);
  requireProblem(await node.post(link, { revoke: [] }, bare), 'second-factor-needed', 'alone');
  requireProblem(await node.post(link, { revoke: [], code: '000000' }, bare), 'second-factor-wrong', 'guessed');
  const page = link.slice('/v1'.length);
  assert.is((await visitor.post(page, {})).status, 200, 'the page again');
  const made = await node.post(link, { revoke: [], code: codeOf(totp) }, bare);
  assert.is(made.status, 200, made.text);
  assert.match(String(made.body.apiKey), /^mk_/);
});

test('who is signed in by a key has none to add, and no name of a key makes its holder somebody', async () => {
  const { personId } = await invited();
  const named = await node.post('/v1/keys', { preset: 'auditor', name: personId }, owner);
  const browser = new BrowserClient(node);
  await browser.signIn(String(named.body.apiKey));
  const { text } = await browser.get('/console/second-factor');
  assert.match(text, /signed in by an API key/);
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
  const sent = { token, id: 'sfa_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MK', name: '', code: '123456' };
  assert.is((await browser.post('/console/second-factor/totp', sent)).status, 403);
  assert.is(await factorsOf(personId), undefined);
});

test.run();
