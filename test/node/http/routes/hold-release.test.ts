import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { requireProblem } from '../problem-shape.ts';
import type { BrowserClient } from '../console/browser-client.ts';
import { invitedByMail, signedInByMail } from '../console/mailed-sign-in.ts';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({ config: { mail: sink.config } });
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const owner = { key: API_KEYS.enterprise };
const HOLD = { scope: 'decisions', retentionPeriodDays: '1825', legalHold: 'yes', lockedBy: 'counsel' };
let sources = 0;

async function filledIn(browser: BrowserClient, form: string, fields: Readonly<Record<string, string>>) {
  return browser.post(`/console/forms/${form}`, { ...(await browser.hidden(`/console/forms/${form}`)), ...fields });
}

/** A hold that somebody places who is signed in. */
async function placedBy(browser: BrowserClient): Promise<string> {
  const { text } = await filledIn(browser, 'retention-lock', { ...HOLD, sourceId: `source-${++sources}` });
  const [lockId] = /rtl_eu_\w{26}/.exec(text) ?? [];
  if (lockId === undefined) throw new Error(text);
  return lockId;
}

/** Whether somebody who is signed in releases a hold, under another name. */
async function isReleasedBy(browser: BrowserClient, lockId: string): Promise<boolean> {
  const { status, text } = await filledIn(browser, 'hold-release', { lockId, releasedBy: 'somebody else' });
  if (status !== 200) assert.match(text, 'of the person, that placed the hold');
  return status === 200;
}

test('one person who signs in again is the same person, and another one is not', async () => {
  const email = 'counsel@example.org';
  const { browser } = await invitedByMail(node, sink, { email, role: 'compliance' }, owner);
  const lockId = await placedBy(browser);
  assert.not(await isReleasedBy(browser, lockId), 'the same sign-in');
  assert.not(await isReleasedBy(await signedInByMail(node, sink, email), lockId), 'another sign-in');
  const other = { email: 'deputy@example.org', role: 'compliance' };
  assert.ok(await isReleasedBy((await invitedByMail(node, sink, other, owner)).browser, lockId), 'another person');
});

/** The text of an API key that somebody makes who is signed in. */
async function keyMadeBy(browser: BrowserClient): Promise<string> {
  const { text } = await filledIn(browser, 'key', { preset: 'admin', name: 'console' });
  const [key] = /mk_eu_[\w-]{20,}/.exec(text) ?? [];
  if (key === undefined) throw new Error(text);
  return key;
}

test('a key that somebody makes who is signed in by mail is theirs, and so is one that is made by that', async () => {
  const { browser } = await invitedByMail(node, sink, { email: 'head@example.org', role: 'admin' }, owner);
  const release = (lockId: string, key: string) =>
    node.post('/v1/retention-lock/release', { lockId, releasedBy: 'somebody else' }, { key });
  const key = await keyMadeBy(browser);
  const { body } = await node.post('/v1/keys', { preset: 'compliance' }, { key });
  const { body: rotation } = await node.post(`/v1/keys/${Object(body.key).id}/rotate`, {}, { key });
  const lockId = await placedBy(browser);
  for (const [what, theirs] of [
    ['made', key],
    ['made by that', body.apiKey],
    ['in its place', rotation.apiKey],
  ]) {
    requireProblem(await release(lockId, String(theirs)), 'same-person', String(what), 'x-api-key');
  }
  const hold = { ...HOLD, retentionPeriodDays: 1825, legalHold: true, sourceId: 'by a key' };
  const placed = await node.post('/v1/retention-lock', hold, { key });
  assert.not(await isReleasedBy(browser, String(placed.body.lockId)), 'placed by the key, released by the sign-in');
  assert.is((await release(lockId, owner.key)).status, 200, 'the key of nobody who signs in by mail');
});

test('the owner who signs in again is the same person, also by a key that takes the place of the sign-in’s', async () => {
  const email = 'owner@example.org';
  await node.post('/v1/sign-up', { email });
  await sink.waitForMail(email);
  const browser = await signedInByMail(node, sink, email);
  const lockId = await placedBy(browser);
  const again = await signedInByMail(node, sink, email);
  assert.not(await isReleasedBy(again, lockId), 'another sign-in');
  const { keys } = JSON.parse((await again.get('/v1/keys')).text);
  const rotated = await filledIn(again, `key-rotate?id=${keys.at(-1).id}`, { overlapSeconds: '60' });
  const [key = null] = /mk_eu_[\w-]{20,}/.exec(rotated.text) ?? [];
  const answer = await node.post('/v1/retention-lock/release', { lockId, releasedBy: 'somebody else' }, { key });
  requireProblem(answer, 'same-person', 'a key in its place', 'x-api-key');
});

test('who signs in by mail takes no key of somebody else by a rotation, to release a hold or to stay', async () => {
  const [email, role] = ['first@example.org', 'admin'];
  const { browser } = await invitedByMail(node, sink, { email, role }, owner);
  const lockId = await placedBy(browser);
  const second = await invitedByMail(node, sink, { email: 'second@example.org', role: 'compliance' }, owner);
  const again = await signedInByMail(node, sink, email);
  const { keys } = JSON.parse((await again.get('/v1/keys')).text);
  const theirs: JsonObject = keys.find(({ name }: JsonObject) => name === second.personId);
  const { status, text } = await filledIn(again, `key-rotate?id=${String(theirs.id)}`, { overlapSeconds: '60' });
  assert.is(status, 403, text);
  assert.not.match(text, /mk_eu_/);
  assert.ok(await isReleasedBy(second.browser, lockId), 'whose key it is');
});

test('a key in the place of lost ones is of the owner, who placed the hold signed in at the same address', async () => {
  const email = 'lost@example.org';
  await node.post('/v1/sign-up', { email });
  const first = /mk_eu_[\w-]{20,}/.exec((await sink.waitForMail(email)).text)?.[0] ?? null;
  const lockId = await placedBy(await signedInByMail(node, sink, email));
  await node.post('/v1/lost-key', { email }, { key: null });
  const [, link = ''] = /(\/v1\/lost-key\/[\w-]{43})$/m.exec((await sink.waitForMail(email)).text) ?? [];
  const { apiKey } = (await node.post(link, { revoke: [] }, { key: null })).body;
  const release = (key: string | null) =>
    node.post('/v1/retention-lock/release', { lockId, releasedBy: 'somebody else' }, { key });
  requireProblem(await release(String(apiKey)), 'same-person', 'in the place of lost ones', 'x-api-key');
  assert.is((await release(first)).status, 200, 'the first key is nobody’s');
});

test.run();
