import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  MadePolicyAnswerShape,
  OversightAnswerShape,
  PoliciesAnswerShape,
} from '../../../../protocol/api/oversight.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { BrowserClient } from '../console/browser-client.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const checkMade = shapeCheck(MadePolicyAnswerShape);
const checkPolicies = shapeCheck(PoliciesAnswerShape);
const checkQueue = shapeCheck(OversightAnswerShape);

async function policy(when: JsonObject, persons = 1): Promise<string> {
  const { status, body, text } = await node.post('/v1/oversight-policies', { name: 'a policy', when, persons });
  assert.is(status, 200, text);
  checkMade(body);
  return String(body.policyId);
}

let cases = 0;

async function decision(sourceId: string, more: JsonObject = {}): Promise<string> {
  return node.attest({ secretText: 'of no queue', case: ++cases }, { sourceId, ...more });
}

async function review(original: string, reviewerId: string): Promise<void> {
  const { status, text } = await node.post('/v1/human-override', {
    sourceId: 'people',
    originalAttestationId: original,
    reviewerId,
    reviewOutcome: 'confirmed',
    overrideDecision: 'kept',
    overrideReason: 'looked at it',
  });
  assert.is(status, 200, text);
}

/** What waits once all that was made is sealed and held against the policies. */
async function queue(query = ''): Promise<{ items: readonly JsonObject[]; nextCursor: unknown; text: string }> {
  await node.seal();
  await node.context.governance.oversight.look();
  const { status, body, text } = await node.get(`/v1/oversight${query}`);
  assert.is(status, 200, text);
  checkQueue(body);
  const items = body.items !== undefined && isJsonArray(body.items) ? body.items.filter(isJsonObject) : [];
  return { items, nextCursor: body.nextCursor, text };
}

const idsOf = (items: readonly JsonObject[]): readonly unknown[] => items.map(({ attestationId }) => attestationId);

async function withoutPolicies(): Promise<void> {
  const { body } = await node.get('/v1/oversight-policies');
  checkPolicies(body);
  for (const one of isJsonArray(body.policies ?? null) ? Object(body.policies) : []) {
    await node.send('DELETE', `/v1/oversight-policies/${String(one.policyId)}`, undefined);
  }
}
test.before.each(withoutPolicies);

test('what a policy chooses waits from its making on, until a person looked at it', async () => {
  await decision('loans', { adverse: true });
  await policy({ adverse: true, confidenceBelow: 0.8, sourceId: 'loans' });
  const chosen = await decision('loans', { adverse: true, confidenceScore: 0.5 });
  await decision('loans', { adverse: true, confidenceScore: 0.8 });
  await decision('loans', { adverse: true });
  await decision('loans', { adverse: false, confidenceScore: 0.5 });
  await decision('cards', { adverse: true, confidenceScore: 0.5 });
  await decision('loans', { adverse: true, confidenceScore: 0.5, environment: 'test' });
  const waiting = await queue();
  assert.equal(idsOf(waiting.items), [chosen]);
  assert.not.match(waiting.text, /no queue/);
  await review(chosen, 'ada');
  assert.equal((await queue()).items, []);
});

test('two persons: the same one twice is one', async () => {
  await policy({ sourceId: 'faces' }, 2);
  const id = await decision('faces');
  await review(id, 'ada');
  await review(id, 'ada');
  const [item] = (await queue()).items;
  assert.equal([item?.persons, item?.reviewCount, item?.distinctReviewers], [2, 2, 1]);
  await review(id, 'grace');
  assert.equal((await queue()).items, []);
});

test('the strictest of the policies counts, and what waits by one that ends waits no more', async () => {
  const one = await policy({ sourceId: 'both' });
  const two = await policy({ sourceId: 'both', adverse: true }, 2);
  const first = await decision('both', { adverse: true });
  const second = await decision('both', { adverse: false });
  assert.equal(
    (await queue()).items.map(({ attestationId, persons, policies }) => [attestationId, persons, policies]),
    [
      [first, 2, [one, two]],
      [second, 1, [one]],
    ],
  );
  await review(first, 'ada');
  await node.send('DELETE', `/v1/oversight-policies/${two}`, undefined);
  assert.equal(idsOf((await queue()).items), [second], 'one person looked at the first');
  await node.send('DELETE', `/v1/oversight-policies/${one}`, undefined);
  assert.equal((await queue()).items, []);
});

test('a share is drawn by hash, about as large as it says', async () => {
  await policy({ sourceId: 'many', share: 0.25 });
  for (let n = 0; n < 8; n++) await Promise.all(Array.from({ length: 50 }, () => decision('many')));
  let count = 0;
  let cursor: unknown = '';
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof queue>> = await queue(`?limit=40${cursor === '' ? '' : `&cursor=${cursor}`}`);
    count += page.items.length;
    cursor = page.nextCursor;
  }
  // 400 draws: more than six standard deviations to either side.
  assert.ok(count > 45 && count < 155, String(count));
});

test('what was chosen outlives a restart, and nothing is chosen twice', async () => {
  await policy({ sourceId: 'kept' });
  const first = await decision('kept');
  assert.equal(idsOf((await queue()).items), [first]);
  await node.stop();
  await node.start();
  await review(first, 'ada');
  const second = await decision('kept');
  assert.equal(idsOf((await queue()).items), [second]);
});

test('the policies and the queue of another account are not there', async () => {
  const id = await policy({ sourceId: 'own' });
  const decided = await decision('own');
  await queue();
  const ask = { key: API_KEYS.enterprise };
  assert.not.match((await node.get('/v1/oversight', ask)).text, new RegExp(decided));
  assert.not.match((await node.get('/v1/oversight-policies', ask)).text, new RegExp(id));
  const ended = await node.send('DELETE', `/v1/oversight-policies/${id}`, undefined, ask);
  requireProblem(ended, 'policy-not-found', id);
  const limited = await node.post('/v1/keys', { preset: 'compliance', sources: ['cards'] });
  const key = { key: String(limited.body.apiKey) };
  assert.not.match((await node.get('/v1/oversight', key)).text, new RegExp(decided));
  requireProblem(
    await node.post('/v1/oversight-policies', { name: 'mine', when: {} }, key),
    'scope-forbidden',
    'a part',
  );
});

test('what is asked wrongly is refused, and changes nothing', async () => {
  const wrong: readonly JsonObject[] = [
    { when: {} },
    { name: 'x', when: { share: 0 } },
    { name: 'x', when: { confidenceBelow: 1.5 } },
    { name: 'x', when: { eventTypes: [] } },
    { name: 'x', when: { model: 'y' } },
    { name: 'x', when: {}, persons: 3 },
  ];
  for (const body of wrong) assert.is((await node.post('/v1/oversight-policies', body)).status, 400);
  assert.is((await node.get('/v1/oversight?cursor=x')).status, 400);
  for (let n = 0; n < 20; n++) await policy({ sourceId: `s${n}` });
  const more = await node.post('/v1/oversight-policies', { name: 'x', when: {} });
  requireProblem(more, 'too-many-policies', 'one more');
});

test('the console shows what waits, and a form away is the review', async () => {
  await policy({ sourceId: 'shown' });
  const id = await decision('shown');
  await queue();
  const browser = new BrowserClient(node);
  await browser.signIn(API_KEYS.unmetered);
  const { text } = await browser.get('/console/oversight');
  assert.match(text, new RegExp(id));
  assert.match(text, /console\/forms\/human-override\?/);
  const form = '/console/forms/oversight-policy';
  const typed = { name: 'By form', when: '{"riskLevels":["high"]}', persons: '2' };
  const sent = await browser.post(form, { ...(await browser.hidden(form)), ...typed });
  assert.match(sent.text, /● Done/);
  assert.match((await browser.get('/console/oversight')).text, /By form/);
});

test.run();
