import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MailAlertsAnswerShape, ShownMailAlertsAnswerShape } from '../../../../protocol/api/mail-alerts.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { MailText } from '../../../fixtures/mail-text.ts';
import type { HttpAnswer } from '../../../fixtures/node-client.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { BrowserClient } from '../console/browser-client.ts';
import { invitedByMail } from '../console/mailed-sign-in.ts';
import { requireProblem } from '../problem-shape.ts';

const HOUR_MS = 3_600_000;
let ahead = 0;
const sink = await TestMailSink.start();
const network = await TestNetwork.start({
  ledger: 'local',
  config: { mail: sink.config, batchIntervalMs: 200 },
  overrides: { now: () => Date.now() + ahead },
});
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const checkSet = shapeCheck(MailAlertsAnswerShape);
const checkShown = shapeCheck(ShownMailAlertsAnswerShape);
const browser = new BrowserClient(node);
const EVERYTHING = { events: ['incident.overdue', 'key.expiring', 'record.confirmed'], every: 'hour' };

/** The key of a new account whose owner reads mail at an address. */
async function signedUp(address: string): Promise<string> {
  await browser.post('/sign-up', { email: address });
  const [key = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(address)).text) ?? [];
  return key;
}

function put(body: JsonObject, key: string): Promise<HttpAnswer> {
  return node.send('PUT', '/v1/mail-alerts', JSON.stringify(body), { key });
}

async function set(key: string, body: JsonObject = EVERYTHING): Promise<void> {
  const { status, body: answer, text } = await put(body, key);
  assert.is(status, 200, text);
  checkSet(answer);
}

async function shown(key: string): Promise<JsonObject | null> {
  const { status, body, text } = await node.get('/v1/mail-alerts', { key });
  assert.is(status, 200, text);
  checkShown(body);
  return body.mailAlerts === null ? null : Object(body.mailAlerts);
}

/** Makes something to tell: a key that ends within days. */
async function expiringKey(key: string): Promise<string> {
  const expiresAt = new Date(Date.now() + ahead + 24 * HOUR_MS).toISOString();
  const { body } = await node.post('/v1/keys', { preset: 'ingest', expiresAt }, { key });
  await node.context.dueAlerts.look();
  return String(Object(body.key).id);
}

async function afterHours(hours: number): Promise<void> {
  ahead += hours * HOUR_MS;
  await node.context.mailDigests.look();
}

function stopPathOf({ text, headers }: MailText): string {
  const [, path = ''] = /^http:\/\/127\.0\.0\.1:\d+(?:\/verify)?(\/stop-mail\/[A-Za-z0-9_-]{43})$/m.exec(text) ?? [];
  assert.is(headers.get('list-unsubscribe')?.endsWith(`${path}>`), true, 'the header leads where the text does');
  assert.is(headers.get('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  return path;
}

const mailsTo = (address: string): number => sink.kept.filter(({ to }) => to.includes(address)).length;

test('what was found in an hour comes in one mail, once, by ids alone', async () => {
  const key = await signedUp('ada@example.org');
  await set(key);
  const id = await node.post('/v1/attest', { sourceId: 'loans', data: { name: 'a text of no mail' } }, { key });
  const first = await expiringKey(key);
  const second = await expiringKey(key);
  await until('the record to be told of', async () => {
    await node.seal();
    await node.context.confirmedBatches.look();
    const { body } = await node.get(`/v1/attestations/${String(id.body.attestationId)}`, { key });
    return JSON.stringify(body).includes('confirmed');
  });
  await node.context.confirmedBatches.look();
  await afterHours(0.5);
  assert.is(mailsTo('ada@example.org'), 1, 'the mail of the sign-up alone');
  await afterHours(0.6);
  const mail = await sink.waitForMail('ada@example.org');
  assert.match(mail.subject, /^Meridian: 3 notices/);
  for (const text of [first, second]) assert.is(mail.text.includes(text), true, text);
  assert.match(mail.text, /Records that were confirmed\n {2}1\n/);
  assert.not.match(mail.text, /no mail/);
  assert.is(mail.headers.get('auto-submitted'), 'auto-generated');
  await afterHours(2);
  assert.is(mailsTo('ada@example.org'), 2, 'nothing new, no mail');
  assert.is.not((await shown(key))?.mailedAt, null);
});

test('one click in a mail program stops the mails; to open the address does not', async () => {
  const key = await signedUp('grace@example.org');
  await set(key);
  await expiringKey(key);
  await afterHours(1.1);
  const path = stopPathOf(await sink.waitForMail('grace@example.org'));
  const page = await browser.get(path);
  assert.is(page.status, 200, page.text);
  assert.is(page.headers.get('x-robots-tag'), 'noindex');
  assert.is.not(await shown(key), null);
  // A mail program: no cookie, no `Sec-Fetch-Site`, another origin.
  const click = await fetch(new URL(path, node.baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  assert.is(click.status, 200, await click.text());
  assert.is(await shown(key), null);
  await expiringKey(key);
  await afterHours(2);
  assert.is(mailsTo('grace@example.org'), 2);
  const { text } = await node.get('/v1/audit-log', { key });
  assert.is(text.includes('mail-alerts.set') && text.includes('mail-alerts.ended'), true, text);

  await set(key);
  assert.is((await fetch(new URL(path, node.baseUrl), { method: 'POST' })).status, 200);
  assert.is(await shown(key), null, 'an old mail stops newer ones too');
  const none = await fetch(new URL(`/stop-mail/${'A'.repeat(43)}`, node.baseUrl), { method: 'POST' });
  assert.is(none.status, 200, 'one answer for all addresses');
});

test('a person is told at their own address, and no more once they are removed', async () => {
  const key = await signedUp('owner@example.org');
  const invited = { email: 'carol@example.org', role: 'compliance' };
  const { body } = await node.post('/v1/people', invited, { key });
  await sink.waitForMail('carol@example.org');
  const carol = new BrowserClient(node);
  await carol.post('/console/mail', { email: 'carol@example.org' });
  const { text } = await sink.waitForMail('carol@example.org');
  const [, enter = ''] = /(\/console\/enter\/\S+)$/m.exec(text) ?? [];
  const entered = await carol.post(enter, {});
  assert.is(entered.status, 303, entered.text);
  [carol.cookie] = (entered.headers.get('set-cookie') ?? '').split(';');
  const form = '/console/forms/mail-alerts';
  const sent = await carol.post(form, { ...(await carol.hidden(form)), events: 'incident.overdue', every: 'day' });
  assert.match(sent.text, /● Done/);
  assert.is(await shown(key), null, 'the owner asked for nothing');
  const own = Object(JSON.parse((await carol.get('/v1/mail-alerts')).text)).mailAlerts;
  assert.equal([own.recipient, own.events, own.every], [body.personId, ['incident.overdue'], 'day']);

  const at = new Date(Date.now() + ahead - 16 * 24 * HOUR_MS).toISOString();
  const made = await node.post(
    '/v1/incident',
    { sourceId: 'loans', severity: 'serious', description: 'of no mail', incidentPeriodStart: at, awarenessAt: at },
    { key },
  );
  assert.is(made.status, 200, made.text);
  await node.context.dueAlerts.look();
  const removed = await node.send('DELETE', `/v1/people/${String(body.personId)}`, undefined, { key });
  assert.is(removed.status, 200, removed.text);
  const before = mailsTo('carol@example.org');
  await afterHours(25);
  assert.is(mailsTo('carol@example.org'), before);
});

test('a lesser key silences nobody, and nobody is told of more than they may see', async () => {
  const key = await signedUp('joan@example.org');
  await set(key);
  const auditor = await keyOf(key, { preset: 'auditor' });
  requireProblem(
    await node.send('DELETE', '/v1/mail-alerts', undefined, { key: auditor }),
    'scope-forbidden',
    'auditor',
  );
  requireProblem(await put(EVERYTHING, auditor), 'scope-forbidden', 'auditor');
  assert.is.not(await shown(key), null);
  const limited = await keyOf(key, { preset: 'admin', sources: ['loans'] });
  requireProblem(await put(EVERYTHING, limited), 'scope-forbidden', 'a source');
  const wrong: readonly JsonObject[] = [
    { events: [], every: 'hour' },
    { events: ['key.expiring'], every: 'minute' },
    { every: 'day' },
  ];
  for (const body of wrong) {
    const { status, text } = await put(body, key);
    assert.is(status, 400, text);
  }
  assert.equal(Object(await shown(key)).events, EVERYTHING.events);
  const without = await put(EVERYTHING, API_KEYS.enterprise);
  requireProblem(without, 'no-mail-address', 'an account without an address');
});

test('the mails of a person are set and ended by a key of theirs that reaches as far as they do, whatever another is called', async () => {
  const key = await signedUp('alan@example.org');
  await set(key);
  const { browser: person, personId } = await invitedByMail(
    node,
    sink,
    { email: 'dpo@example.org', role: 'admin' },
    { key },
  );
  const form = '/console/forms/mail-alerts';
  const asked = { ...(await person.hidden(form)), events: 'incident.overdue', every: 'day' };
  assert.match((await person.post(form, asked)).text, /● Done/);
  const fields = { ...(await person.hidden('/console/forms/key')), preset: 'admin' };
  const [own = ''] = /mk_eu_[\w-]{20,}/.exec((await person.post('/console/forms/key', fields)).text) ?? [];
  const end = (by: string) => node.send('DELETE', '/v1/mail-alerts', undefined, { key: by });
  for (const [what, by] of [
    ['called like the person', await keyOf(key, { name: personId, scopes: ['export:read'] })],
    ['of the person, for less', await keyOf(own, { scopes: ['export:read'] })],
    ['of the person, for one source', await keyOf(own, { preset: 'admin', sources: ['loans'] })],
    ['of the person, for a period', await keyOf(own, { preset: 'admin', to: '2020-12-31T00:00:00Z' })],
  ] as const) {
    requireProblem(await end(by), 'scope-forbidden', `a key ${what}`);
    requireProblem(await put({ events: ['incident.due-soon'], every: 'day' }, by), 'scope-forbidden', `a key ${what}`);
  }
  assert.equal((await shown(own))?.events, ['incident.overdue']);
  assert.is((await end(await keyOf(key, { name: personId, preset: 'admin' }))).status, 200);
  assert.is(await shown(key), null, 'the owner’s, whatever the key is called');
  assert.equal((await shown(own))?.events, ['incident.overdue']);
  assert.is((await end(own)).status, 200);
  assert.is(await shown(own), null);
});

test('what a mail server does not take waits, is shown, and is tried again', async () => {
  const key = await signedUp('mary@example.org');
  await set(key);
  const id = await expiringKey(key);
  const { port } = sink.config;
  await sink[Symbol.asyncDispose]();
  await afterHours(1.1);
  const failed = await shown(key);
  assert.equal([failed?.mailedAt, failed?.lastError], [null, 'unreachable']);
  await using again = await TestMailSink.start({}, port);
  await afterHours(0.001);
  assert.is(again.kept.length, 0, 'not at once');
  await afterHours(1);
  assert.is((await again.waitForMail('mary@example.org')).text.includes(id), true);
  assert.is((await shown(key))?.lastError, null);
});

async function keyOf(key: string, terms: JsonObject): Promise<string> {
  const { body, text } = await node.post('/v1/keys', terms, { key });
  assert.ok(body.success, text);
  return String(body.apiKey);
}

test.run();
