import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FORMS } from '../../../../node/http/console/forms.ts';
import { SCREENS } from '../../../../node/http/console/screens.ts';
import { isJsonArray } from '../../../../protocol/json/value.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { BrowserClient, hiddenOf } from './browser-client.ts';

const network = await TestNetwork.start({ config: { batchIntervalMs: 200 } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const KEY = API_KEYS.enterprise;
const HOSTILE = '"><svg onload=alert(1)><script>alert(1)</script>\u202e" onfocus=alert(1)';
const decision = await node.attest({ case: 1 }, { sourceId: 'loans' }, { key: KEY });
const made = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await node.send('POST', path, JSON.stringify({ sourceId: 'loans', ...body }), { key: KEY });
  assert.is(answer.status, 200, answer.text);
  return answer.body;
};
const incident = await made('/v1/incident', {
  severity: 'serious',
  description: 'Refused without review.',
  incidentPeriodStart: '2026-01-01T00:00:00Z',
});
const risk = await made('/v1/risk-assessment', { risksIdentified: ['refusals by district'], residualRisk: 'high' });
const revised = await made('/v1/risk-assessment', {
  risksIdentified: ['refusals by district'],
  residualRisk: 'low',
  supersedes: risk.assessmentId,
});
await made('/v1/system', { systemRef: 'scoring', role: 'provider', intendedPurpose: 'scores' });
await made('/v1/agents/register', {
  sourceId: undefined,
  agentId: 'triage',
  displayName: 'Triage',
  jurisdiction: 'EU',
  permittedUses: ['sort'],
});

const hook = await node.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['key.expiring'] }, { key: KEY });
const webhook = String(hook.body.webhookId);

async function signedIn(key: string = KEY): Promise<BrowserClient> {
  const browser = new BrowserClient(node);
  assert.is((await browser.signIn(key)).status, 303);
  return browser;
}

const PARAMETERS: Readonly<Record<string, string>> = {
  '/records/:id': `/records/${decision}`,
  '/incidents/:id': `/incidents/${String(incident.incidentId)}`,
  '/assessments/:before/:after': `/assessments/${String(risk.attestationId)}/${String(revised.attestationId)}`,
  '/registers/:list': '/registers/notifications',
  '/webhooks/:id': `/webhooks/${webhook}`,
  '/sources/:id': '/sources/loans',
  '/frameworks/:id': '/frameworks/EU_AI_ACT?sourceId=loans',
};

for (const { path } of SCREENS) {
  test(`the screen ${path === '' ? '/' : path} shows what the API says`, async () => {
    const browser = await signedIn();
    const { status, text, headers } = await browser.get(`/console${PARAMETERS[path] ?? path}`);
    assert.is(status, 200, text);
    assert.is(headers.get('referrer-policy'), 'same-origin');
    assert.is(headers.get('cache-control'), 'no-store');
    assert.not.match(text, /▲ /, text);
  });
}

test('the next page of one list of a screen leaves the other lists of it where they are', async () => {
  for (let n = 0; n < 51; n++) {
    const system = { sourceId: `source ${n}`, systemRef: `system ${n}`, role: 'provider', intendedPurpose: 'scores' };
    assert.is((await node.post('/v1/system', system)).status, 200);
  }
  const browser = await signedIn(API_KEYS.unmetered);
  const nextsIn = (text: string): string[] =>
    [...text.matchAll(/href="([^"]+)" rel="next"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
  const nexts = nextsIn((await browser.get('/console/systems')).text);
  assert.is(nexts.length, 2);
  for (const href of nexts) {
    const { pathname, search } = new URL(href, 'http://node/console/systems');
    const { status, text } = await browser.get(pathname + search);
    assert.is(status, 200);
    assert.not.match(text, /▲ /, href);
    assert.equal(
      nextsIn(text),
      nexts.filter((next) => next !== href),
      'the other list is at its beginning',
    );
  }
});

for (const { name } of FORMS) {
  test(`the form ${name} is of the request that its call takes`, async () => {
    const browser = await signedIn();
    const { status, text } = await browser.get(`/console/forms/${name}?id=x&agentId=triage`);
    assert.is(status, 200, text);
    assert.match(text, /name="once" value="[0-9a-f-]{36}"/);
  });
}

test('what a stranger wrote into any field of any form is shown as text, and in the screens that show it too', async () => {
  const browser = await signedIn();
  let filled = 0;
  for (const { name } of FORMS) {
    if (name === 'key-revoke') continue;
    const { text } = await browser.get(`/console/forms/${name}?id=${encodeURIComponent(HOSTILE)}`);
    const form = text.slice(text.lastIndexOf('<form'));
    const fields = [...form.matchAll(/<(?:input type="(?:text|password)"|textarea)[^>]* name="([^"]+)"/g)].map(
      (one) => one[1] ?? '',
    );
    filled += fields.length;
    const typed = Object.fromEntries(fields.map((field) => [field, HOSTILE]));
    const answer = await browser.post(`/console/forms/${name}`, { ...typed, ...hiddenOf(text) });
    for (const page of [text, answer.text]) assert.not.match(page, /<svg onload|<script>alert|" onfocus/, name);
  }
  assert.ok(filled > 150, String(filled));
  for (const { path } of SCREENS) {
    const { text } = await browser.get(`/console${PARAMETERS[path] ?? path}`);
    assert.not.match(text, /<svg onload|<script>alert|" onfocus/, path);
  }
});

test('a stranger is shown the way in, whatever screen is asked for', async () => {
  const browser = new BrowserClient(node);
  for (const path of ['/console', '/console/records', `/console/records/${decision}`, '/console/forms/key']) {
    const { status, headers } = await browser.get(path);
    assert.is(status, 303);
    const to = new URL(headers.get('location') ?? '', node.baseUrl + path);
    assert.is(to.pathname, '/console/sign-in');
  }
});

test('a key is posted once, and its browser keeps a secret that no script reads', async () => {
  const browser = new BrowserClient(node);
  const { headers } = await browser.signIn(KEY);
  const cookie = headers.get('set-cookie') ?? '';
  assert.match(cookie, /^meridian_session_eu=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.not.match(cookie, new RegExp(KEY));
  const { body } = await node.get('/v1/sign-ins', { key: KEY });
  const { signIns } = body;
  assert.ok(Array.isArray(signIns) && signIns.length > 0);
});

test('a wrong key, one that is too long and none are answered in the same words', async () => {
  const answers = [];
  for (const apiKey of ['', 'mk_eu_wrong', 'x'.repeat(5_000), `${KEY}x`]) {
    const browser = new BrowserClient(node);
    const { status, text, headers } = await browser.signIn(apiKey);
    assert.is(headers.get('set-cookie'), null);
    answers.push(`${status} ${text}`);
  }
  assert.is(new Set(answers).size, 1);
  assert.match(answers[0] ?? '', /^401 .*This key is not taken here\./);
});

test('the cookie that a browser brings along is never taken on', async () => {
  const browser = new BrowserClient(node);
  const chosen = `meridian_session_eu=${'A'.repeat(43)}`;
  browser.cookie = chosen;
  await browser.signIn(KEY);
  assert.is.not(browser.cookie, chosen);
  browser.cookie = chosen;
  assert.is((await browser.get('/console')).status, 303);
});

test('a page of the node reads the API by its cookie; no other page does, and nothing is written by it', async () => {
  const browser = await signedIn();
  for (const site of ['same-origin', 'none'] as const) {
    assert.is((await browser.get('/v1/keys', { site })).status, 200);
  }
  for (const site of ['cross-site', 'same-site'] as const) {
    assert.is((await browser.get('/v1/keys', { site })).status, 401);
  }
  assert.is((await browser.post('/v1/keys', { preset: 'ingest' })).status, 401);
  const other = await browser.get('/v1/keys', { headers: { 'x-api-key': 'mk_eu_wrong' } });
  assert.is(other.status, 401);
});

test('a form that another page sent, or that has no token or another sign-in’s, does nothing', async () => {
  const browser = await signedIn();
  const hidden = await browser.hidden('/console/forms/session-start');
  const fields = { ...hidden, sourceId: 'forged' };
  const stranger = await (await signedIn()).hidden('/console/forms/session-start');
  const sent = [
    await browser.post('/console/forms/session-start', fields, { site: 'cross-site' }),
    await browser.post('/console/forms/session-start', fields, { site: 'same-site' }),
    await browser.post('/console/forms/session-start', { ...fields, token: '' }),
    await browser.post('/console/forms/session-start', { ...fields, token: stranger.token ?? '' }),
    await browser.post('/console/sign-in', { apiKey: KEY }, { site: 'cross-site' }),
  ];
  assert.equal(
    sent.map(({ status }) => status),
    [403, 403, 403, 403, 403],
  );
  const { body } = await node.get('/v1/sources', { key: KEY });
  assert.not.match(JSON.stringify(body), /forged/);
});

test('what a form records is recorded once, however often it is sent', async () => {
  const browser = await signedIn();
  const hidden = await browser.hidden('/console/forms/session-start');
  const fields = { ...hidden, sourceId: 'branch', purpose: 'a trial' };
  const [first, again] = [
    await browser.post('/console/forms/session-start', fields),
    await browser.post('/console/forms/session-start', fields),
  ];
  assert.is(first.status, 200, first.text);
  const idOf = (html: string): string | undefined => /ses_eu_\w+/.exec(html)?.[0];
  assert.is(idOf(first.text), idOf(again.text));
  const { body } = await node.get('/v1/sessions?sourceId=branch', { key: KEY });
  assert.is(Array.isArray(body.items) ? body.items.length : 0, 1);
});

test('what the API refuses stands beside its field, and what was typed is still there', async () => {
  const browser = await signedIn();
  const hidden = await browser.hidden('/console/forms/incident');
  const { status, text } = await browser.post('/console/forms/incident', {
    ...hidden,
    sourceId: 'loans',
    description: '<script>alert("typed")</script>',
    severity: 'serious',
    incidentPeriodStart: 'yesterday',
  });
  assert.is(status, 400);
  assert.match(text, /It was not taken/);
  assert.match(text, /aria-invalid="true"/);
  assert.match(text, /&lt;script>alert\(&quot;typed&quot;\)/);
  assert.not.match(text, /<script>alert/);
  assert.is.not(hiddenOf(text).once, hidden.once);
});

for (const scopes of [['all'], ['decisions'], ['decisions', 'documents'], ['event:TECH_DOC']]) {
  const what = scopes.join(' and ');
  test(`a form locks records under the scope that was typed: ${what}`, async () => {
    const browser = await signedIn();
    const page = await browser.get('/console/forms/retention-lock');
    assert.match(page.text, 'Or alone: all.');
    const typed = { sourceId: 'locked', scope: scopes.join('\n'), retentionPeriodDays: '1825' };
    const { status, text } = await browser.post('/console/forms/retention-lock', { ...hiddenOf(page.text), ...typed });
    assert.is(status, 200, text);
    const { body } = await node.get('/v1/retention?sourceId=locked', { key: KEY });
    const { locks = null } = body;
    assert.equal(isJsonArray(locks) && Object(locks.at(-1)).scope, scopes);
  });
}

test('a new key is shown once', async () => {
  const browser = await signedIn();
  const hidden = await browser.hidden('/console/forms/key');
  const { text } = await browser.post('/console/forms/key', { ...hidden, name: 'loader', preset: 'ingest' });
  assert.match(text, /mk_eu_[\w-]{20,}/);
  assert.not.match((await browser.get('/console/keys')).text, /mk_eu_[\w-]{20,}/);
});

test('a sign-in may do what its key may, and no more', async () => {
  const { body } = await node.send('POST', '/v1/keys', JSON.stringify({ preset: 'auditor', expiresAt: inDays(1) }), {
    key: KEY,
  });
  const browser = await signedIn(String(body.apiKey));
  assert.is((await browser.get('/console/records')).status, 200);
  assert.match((await browser.get('/console/keys')).text, /lacks the scope keys:admin/);
  const hidden = await browser.hidden('/console/forms/session-start');
  const { status } = await browser.post('/console/forms/session-start', { ...hidden, sourceId: 'loans' });
  assert.is(status, 403);
});

test('it ends with its key, by its account, and when it is left', async () => {
  const { body } = await node.send('POST', '/v1/keys', JSON.stringify({ preset: 'admin' }), { key: KEY });
  const byKey = await signedIn(String(body.apiKey));
  assert.is((await byKey.get('/console')).status, 200);
  const { id = '' } = Object(body.key);
  await node.send('POST', `/v1/keys/${id}/revoke`, undefined, { key: KEY });
  assert.is((await byKey.get('/console')).status, 303);

  const ended = await signedIn();
  const list = await node.get('/v1/sign-ins', { key: KEY });
  const [newest] = Array.isArray(list.body.signIns) ? list.body.signIns : [];
  const { signInId } = Object(newest);
  assert.is((await node.send('DELETE', `/v1/sign-ins/${signInId}`, undefined, { key: KEY })).status, 200);
  assert.is((await ended.get('/console')).status, 303);
  assert.is((await node.send('DELETE', `/v1/sign-ins/${signInId}`, undefined, { key: KEY })).status, 404);

  const left = await signedIn();
  const { text } = await left.get('/console');
  const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const out = await left.post('/console/sign-out', { token });
  assert.match(out.headers.get('set-cookie') ?? '', /Max-Age=0/);
  assert.is((await left.get('/console')).status, 303);
});

test('another account sees nothing of it, whatever id it names', async () => {
  const browser = await signedIn(API_KEYS.developer);
  for (const { path } of SCREENS) {
    const named = PARAMETERS[path] ?? path;
    const { status, text } = await browser.get(`/console${named}`);
    assert.ok([200, 404].includes(status), `${named}: ${status}`);
    for (const secret of [decision, String(incident.attestationId), 'Refused without review', 'refusals by district']) {
      // What it asked for itself is repeated.
      assert.not(!named.includes(secret) && text.includes(secret), `${named}: ${secret}`);
    }
  }
  const { body } = await node.get('/v1/sign-ins', { key: KEY });
  const [newest] = Array.isArray(body.signIns) ? body.signIns : [];
  const { signInId } = Object(newest);
  assert.is(
    (await node.send('DELETE', `/v1/sign-ins/${signInId}`, undefined, { key: API_KEYS.developer })).status,
    404,
  );
});

test('who signed in, and who looked at a content, stands in the audit log', async () => {
  const browser = await signedIn();
  await browser.get(`/console/records/${decision}?payload=1`);
  const log = await node.get('/v1/audit-log?limit=20', { key: KEY });
  const actions = (Array.isArray(log.body.entries) ? log.body.entries : []).map((entry) => Object(entry).action);
  assert.ok(actions.includes('sign-in.created'), JSON.stringify(actions));
  assert.ok(actions.includes('payload.read'), JSON.stringify(actions));
});

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

test('whoever guesses keys is put off after some two dozen, and a right one does not help them then', async () => {
  const thief = new BrowserClient(node);
  const statuses: number[] = [];
  for (let guesses = 0; guesses < 30; guesses++) {
    statuses.push((await thief.signIn(`mk_eu_${String(guesses).padStart(49, '0')}`)).status);
  }
  assert.equal([...new Set(statuses)], [401, 429]);
  assert.ok(statuses.indexOf(429) <= 25, String(statuses.indexOf(429)));
  const late = await thief.signIn(KEY);
  assert.is(late.status, 429);
  assert.is(late.headers.get('set-cookie'), null);
});

test.run();
