import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { requireProblem } from '../problem-shape.ts';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({ config: { mail: sink.config } });
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const NEW = 'ada@example.org';
const signUp = (body: JsonObject) => node.post('/v1/sign-up', body, { key: null });

async function keyOf(to: string): Promise<string> {
  const { text } = await sink.waitForMail(to);
  return /mk_eu_[A-Za-z0-9_-]{49}/.exec(text)?.[0] ?? '';
}

test('from an e-mail address to a recorded decision; the answer is the same for an address that is known', async () => {
  const first = await signUp({ email: NEW });
  assert.is(first.status, 200, first.text);
  assert.equal(Object.keys(first.body), ['success', 'sent', 'message']);
  const unused = await keyOf(NEW);
  const fresh = await signUp({ email: NEW });
  const apiKey = await keyOf(NEW);
  requireProblem(await node.get('/v1/keys', { key: unused }), 'api-key-invalid', 'the key never used');
  await node.attest({ n: 1 }, {}, { key: apiKey });
  const known = await signUp({ email: NEW });
  assert.match((await sink.waitForMail(NEW)).subject, 'already');
  for (const answer of [fresh, known]) assert.equal([answer.status, answer.text], [200, first.text]);
  const keys = await node.get('/v1/keys', { key: apiKey });
  assert.is(keys.status, 200);
  assert.not.match(keys.text, apiKey);
});

test('the key is in the mail alone: in no row and no log', async () => {
  const [, second] = await Promise.all(
    sink.kept.map(
      async ({ file }) => /mk_eu_[A-Za-z0-9_-]{49}/.exec(await readFile(join(sink.directory, file), 'utf8'))?.[0],
    ),
  );
  assert.ok(second !== undefined);
  for await (const [key, value] of node.context.store.range({})) {
    assert.not.ok(Buffer.from(value).includes(second) || key.includes(second), key);
  }
  assert.not.match(node.log.join(''), second);
  assert.not.match(node.log.join(''), NEW);
});

test('an account is asked for whose payloads are compressed', async () => {
  const email = 'grace@example.org';
  assert.is((await signUp({ email, compressPayloads: true })).status, 200);
  const found = await node.context.accounts.authenticate(await keyOf(email));
  assert.is(typeof found === 'string' ? found : found.caller.account.compressPayloads, true);
  const refused = await signUp({ email, compressPayloads: 'yes' });
  requireProblem(refused, 'invalid-field', 'no boolean', 'compressPayloads');
});

test('bodies of another form are refused', async () => {
  requireProblem(await signUp({}), 'missing-field', 'nothing', 'email');
  for (const email of ['ada', 'ada@example.org\r\nBcc: bob@example.org', 'a'.repeat(300), 7, null, ['a@b.org']]) {
    requireProblem(await signUp({ email }), 'invalid-field', String(email), 'email');
  }
  requireProblem(await signUp({ email: NEW, tier: 'unmetered' }), 'invalid-field', 'more', 'tier');
  requireProblem(await signUp({ email: NEW, x: 'y'.repeat(5000) }), 'payload-too-large', 'much more');
});

test('a caller who goes on and on is told when to come back', async () => {
  let answer = await signUp({ email: 'p0@example.org' });
  for (let i = 1; answer.status === 200 && i < 20; i++) answer = await signUp({ email: `p${i}@example.org` });
  requireProblem(answer, 'rate-limited', 'too many');
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
});

test.run();
