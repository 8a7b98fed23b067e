import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isRecordId, recordId } from '../../../../protocol/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import type { ProblemCode } from '../../../../node/http/problem-codes.ts';
import { readGroup, readRecord } from '../../../../node/records/record-reader.ts';
import { StoreError } from '../../../../node/store/store.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type Ask, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { requireProblem } from '../problem-shape.ts';

const PATH = '/v1/tiered-attest-batch';
const LINES = { 'content-type': 'application/x-ndjson' };
const MANY = 1_000;

const network = await TestNetwork.start();
const node = network.node();
let sources = 0;
test.after(() => network[Symbol.asyncDispose]());

/** A source that nobody else speaks for. */
function newSource(): string {
  return `batch ${++sources}`;
}

/** `more`: what each has beside. */
function decisionsOf(sourceId: string, count: number, more: (i: number) => JsonObject = () => ({})): JsonObject[] {
  return Array.from({ length: count }, (_, i) => ({
    sourceId,
    data: { input: { i }, output: { ok: true } },
    ...more(i),
  }));
}

function send(body: JsonValue, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post(PATH, body, ask);
}

function sendKeyed(body: JsonValue, key: string): Promise<HttpAnswer> {
  return send(body, { headers: { 'idempotency-key': key } });
}

function accepted(answer: HttpAnswer): JsonObject {
  assert.is(answer.status, 200, answer.text.slice(0, 500));
  return answer.body;
}

function resultsOf({ results }: JsonObject): JsonObject[] {
  return Array.isArray(results) ? results.filter(isJsonObject) : [];
}

function checksOf({ cryptoVerification }: JsonObject): JsonObject {
  return isJsonObject(cryptoVerification) && isJsonObject(cryptoVerification.checks) ? cryptoVerification.checks : {};
}

function idsOf(body: JsonObject): string[] {
  return resultsOf(body).map(({ attestationId }) => String(attestationId));
}

async function recordsOf(sourceId: string): Promise<number> {
  return Number((await node.get(`/v1/sources/${encodeURIComponent(sourceId)}/continuity`)).body.lastSeq ?? 0);
}

test('a batch is answered in its order, its records stand in one signed group, and each is verified by itself', async () => {
  const source = newSource();
  const body = accepted(await send(decisionsOf(source, MANY)));
  assert.equal(Object.keys(body).toSorted(), [
    'anchorExpectedBy',
    'count',
    'refused',
    'results',
    'status',
    'submittedAt',
    'success',
    'tier',
    'warnings',
  ]);
  assert.equal(
    [body.success, body.count, body.refused, body.tier, body.status, body.warnings],
    [true, MANY, 0, 1, 'buffered', []],
  );
  const ids = idsOf(body);
  assert.is(new Set(ids).size, MANY);
  const { store } = node.context;
  const first = await readRecord(store, recordId(ids[0] ?? ''));
  assert.ok(first);
  const signed = await readGroup(store, first.record.node, first.record.seq);
  assert.equal([signed?.group.first, signed?.group.size], [first.record.seq, MANY]);
  for (const at of [0, 1, 63, 64, 500, MANY - 1]) {
    const id = ids[at] ?? '';
    assert.ok(isRecordId(id));
    const stored = await readRecord(store, id);
    const { seq, sourceSeq, sourceId, payloadHash, submittedAt } = stored?.record ?? {};
    assert.equal([seq, sourceSeq, sourceId], [first.record.seq + at, at + 1, source]);
    assert.equal([payloadHash, submittedAt], [resultsOf(body)[at]?.payloadHash, body.submittedAt]);
  }
  await node.seal();
  for (const at of [0, MANY - 1]) {
    const verified = await node.get(`/v1/verify/${ids[at]}`);
    assert.equal([verified.status, checksOf(verified.body).proofWalk], [200, true]);
  }
});

test('one decision a line is taken like a list, blank lines and all', async () => {
  const source = newSource();
  const lines = decisionsOf(source, 3).map((decision) => JSON.stringify(decision));
  const text = `\n${lines.join('\r\n\n')}\n  \n`;
  const body = accepted(await send(text, { headers: LINES }));
  assert.equal([body.count, resultsOf(body).length, await recordsOf(source)], [3, 3, 3]);
  accepted(await send(lines.join('\n'), { headers: { 'content-type': 'application/x-ndjson; charset=utf-8' } }));
  requireProblem(await send(text), 'invalid-json', 'lines as JSON');
  const listed = accepted(await send(JSON.stringify([{}]), { headers: LINES }));
  assert.equal([listed.count, resultsOf(listed)[0]?.code], [0, 'invalid-field'], 'a list is no decision');
});

test('a decision that is refused has its code in its place, and the others are recorded', async () => {
  const source = newSource();
  const good = { sourceId: source, data: {} };
  const refused: readonly (readonly [decision: JsonValue, code: string, field?: string])[] = [
    [{ data: {} }, 'missing-field', 'sourceId'],
    [{ sourceId: source, data: 7 }, 'invalid-field', 'data'],
    [{ ...good, model_ref: {} }, 'model-binding-invalid', 'model_ref.model_id'],
    [{ ...good, sessionId: 'ses_eu_1' }, 'session-not-found', 'sessionId'],
    [{ ...good, incidentId: 'inc_eu_1' }, 'incident-not-found', 'incidentId'],
    [{ ...good, agentId: 'nobody' }, 'agent-not-found', 'agentId'],
    [{ ...good, agentSalt: 'A' }, 'missing-field', 'agentId'],
    [{ ...good, extra: 'x'.repeat(20_000) }, 'payload-too-large', 'extra'],
    [7, 'invalid-field'],
    [null, 'invalid-field'],
  ];
  const body = accepted(await send([good, ...refused.flatMap(([decision]) => [decision, good])]));
  const results = resultsOf(body);
  assert.equal([body.count, body.refused], [refused.length + 1, refused.length]);
  for (const [i, result] of results.entries()) {
    const [, code, field] = refused[(i - 1) / 2] ?? [];
    if (code === undefined) assert.ok(isRecordId(String(result.attestationId)), `${i}`);
    else {
      assert.equal([result.code, result.field, typeof result.detail], [code, field, 'string'], JSON.stringify(result));
    }
  }
  assert.is(await recordsOf(source), refused.length + 1);
});

test('a batch of which nothing holds is answered, and records nothing', async () => {
  const body = accepted(await send([{}, { sourceId: 's' }]));
  assert.equal([body.count, body.refused, body.submittedAt, body.anchorExpectedBy], [0, 2, null, null]);
});

test('what the refusal of a decision says of a member of any length is short', async () => {
  const name = 'm'.repeat(30_000);
  const body = accepted(await send([{ sourceId: 's', data: {}, model_ref: { model_id: 'm', [name]: 1 } }]));
  assert.is(resultsOf(body)[0]?.code, 'model-binding-invalid');
  assert.ok(JSON.stringify(body).length < 2_000);
});

test('members that are not documented are signed, and told by their place; many of them by their number', async () => {
  const decisions = decisionsOf(newSource(), 30, () => ({ extra: 1 }));
  const { warnings } = accepted(await send(decisions));
  assert.ok(Array.isArray(warnings));
  assert.match(String(warnings[0]), /^\[0\]\.extra: not a documented field/);
  assert.equal([warnings.length, warnings.at(-1)], [21, '10 more of this kind']);
});

const malformed: readonly (readonly [
  what: string,
  body: JsonValue,
  code: ProblemCode,
  headers?: Record<string, string>,
])[] = [
  ['nothing', '', 'invalid-json'],
  ['no JSON', '[{', 'invalid-json'],
  ['more than the list', '[{}] x', 'invalid-json'],
  ['an object', '{"records":[]}', 'invalid-json'],
  ['text', '"[]"', 'invalid-json'],
  ['no decision', [], 'invalid-field'],
  ['no line', ' \n\n', 'invalid-field', LINES],
  ['a line that is no JSON', '{"sourceId":"malformed","data":{}}\n{', 'invalid-json', LINES],
  ['a byte order mark', '\ufeff{}', 'invalid-json', LINES],
  ['equal names', '[{"a":1,"a":2}]', 'invalid-json'],
  ['too many', Array.from({ length: MANY + 1 }, () => ({ sourceId: 'malformed', data: {} })), 'invalid-field'],
  ['too many lines', '{"sourceId":"malformed","data":{}}\n'.repeat(MANY + 1), 'invalid-field', LINES],
  ['a decision that is too long', [{ sourceId: 'malformed', data: { t: 'x'.repeat(70_000) } }], 'payload-too-large'],
  [
    'a line that is too long',
    `{"sourceId":"malformed","data":{"t":"${'x'.repeat(70_000)}"}}`,
    'payload-too-large',
    LINES,
  ],
  ['too many values', `[${`[${'0,'.repeat(30_000)}0],`.repeat(36)}0]`, 'payload-too-large'],
  ['too many values in lines', `[${'0,'.repeat(30_000)}0]\n`.repeat(36), 'payload-too-large', LINES],
  ['plain text', '[]', 'unsupported-media-type', { 'content-type': 'text/plain' }],
];

for (const [what, body, code, headers = {}] of malformed) {
  test(`refused as a whole, nothing is recorded: ${what}`, async () => {
    const good = decisionsOf('malformed', 1)[0] ?? {};
    // A decision before the fault is not recorded either.
    const sent = Array.isArray(body) && body.length > 0 ? [good, ...body] : body;
    requireProblem(await send(sent, { headers }), code, what);
    assert.is(await recordsOf('malformed'), 0);
  });
}

test('a body of 32 MiB is taken, and one byte more is not', async () => {
  const source = newSource();
  const most = 32 << 20;
  const decisions = decisionsOf(source, 600, () => ({ data: { t: 'x'.repeat(55_800) } }));
  const text = JSON.stringify(decisions).padEnd(most);
  assert.is(text.length, most);
  requireProblem(await send(`${text} `), 'payload-too-large', 'one byte more');
  assert.is(await recordsOf(source), 0);
  assert.is(accepted(await send(text)).count, decisions.length);
});

test('one idempotency key covers the batch: repeated, at the same time and after a restart, it is answered the same', async () => {
  const source = newSource();
  const decisions: JsonValue[] = [
    ...decisionsOf(source, 300),
    { sourceId: source },
    { sourceId: source, data: {}, extra: 1 },
  ];
  const [first, ...duplicates] = await Promise.all(Array.from({ length: 4 }, () => sendKeyed(decisions, 'k1')));
  assert.ok(first);
  const body = accepted(first);
  assert.equal([body.count, body.refused], [301, 1]);
  for (const duplicate of duplicates) assert.equal(duplicate.body, body);
  await node.stop();
  await node.start();
  assert.equal((await sendKeyed(decisions, 'k1')).body, body);
  assert.is(await recordsOf(source), 301);
});

test('the same key with another batch, or for another endpoint, is a conflict and records nothing', async () => {
  const source = newSource();
  const [one = {}, other = {}] = decisionsOf(source, 2);
  accepted(await sendKeyed([one, other], 'k2'));
  requireProblem(await sendKeyed([other, one], 'k2'), 'idempotency-conflict', 'another order');
  requireProblem(await sendKeyed([one], 'k2'), 'idempotency-conflict', 'a part');
  const single = await node.post('/v1/tiered-attest', one, { headers: { 'idempotency-key': 'k2' } });
  requireProblem(single, 'idempotency-conflict', 'the endpoint for one');
  requireProblem(await sendKeyed([one], 'k'.repeat(129)), 'invalid-field', 'a long key', 'Idempotency-Key');
  assert.is(await recordsOf(source), 2);
});

test('a key that came with a batch that was refused is not used up', async () => {
  const source = newSource();
  requireProblem(await sendKeyed('[', 'k3'), 'invalid-json', 'no JSON');
  accepted(await sendKeyed([{ sourceId: source }], 'k3'));
  assert.is(accepted(await sendKeyed(decisionsOf(source, 1), 'k3')).count, 1);
});

test('where the write fails nothing of a batch is recorded or counted, and its key is good for another try', async () => {
  const source = newSource();
  const { store } = node.context;
  const write = store.write.bind(store);
  store.write = (rows) =>
    rows.length < 100 ? write(rows) : Promise.reject(new StoreError('write-failed', 'by the test'));
  const key = API_KEYS.developer;
  const keyed = { key, headers: { 'idempotency-key': 'k4' } };
  const before = (await node.get('/v1/usage', { key })).headers.get('x-daily-remaining');
  const failed = await send(decisionsOf(source, 100), keyed);
  store.write = write;
  requireProblem(failed, 'dependency-unavailable', 'the write fails');
  assert.is((await node.get('/v1/usage', { key })).headers.get('x-daily-remaining'), before);
  assert.is(accepted(await send(decisionsOf(source, 100), keyed)).count, 100);
  assert.is(accepted(await send(decisionsOf(source, 100), keyed)).count, 100);
  assert.is((await node.get(`/v1/sources/${encodeURIComponent(source)}/continuity`, { key })).body.lastSeq, 100);
});

test('records of a batch count against the daily cap; a batch that goes past it is refused whole', async () => {
  const source = newSource();
  const key = API_KEYS.developer;
  const first = await send([...decisionsOf(source, 500), {}], { key });
  accepted(first);
  assert.is(first.headers.get('x-daily-remaining'), '400', 'a hundred were recorded before');
  const past = await send(decisionsOf(source, 401), { key });
  requireProblem(past, 'daily-cap-exceeded', '401 of 400');
  assert.is(past.headers.get('x-daily-remaining'), '400');
  assert.ok(Number(past.headers.get('retry-after')) > 0);
  assert.is(await recordsOf(source), 0, 'another account');
  // What is refused by itself does not count.
  const rest = await send([...decisionsOf(source, 400), {}, {}], { key });
  assert.is(accepted(rest).count, 400);
  assert.is(rest.headers.get('x-daily-remaining'), '0');
  requireProblem(await send(decisionsOf(source, 1), { key }), 'daily-cap-exceeded', 'none is left');
  const remaining = (answer: HttpAnswer) => Number(answer.headers.get('ratelimit-remaining'));
  assert.is(remaining(first) - remaining(rest), 2, 'each call counts as one request');
});

test('a key needs the scope, and is refused the decisions of sources that it does not reach', async () => {
  const source = newSource();
  const reader = accepted(await node.post('/v1/keys', { name: 'reader', scopes: ['proof:read'] }));
  requireProblem(await send(decisionsOf(source, 1), { key: String(reader.apiKey) }), 'scope-forbidden', 'no scope');
  const bound = accepted(await node.post('/v1/keys', { name: 'bound', scopes: ['attest:write'], sources: [source] }));
  const decisions = [...decisionsOf(source, 1), ...decisionsOf('elsewhere', 1)];
  const body = accepted(await send(decisions, { key: String(bound.apiKey) }));
  assert.equal([body.count, resultsOf(body)[1]?.code, resultsOf(body)[1]?.field], [1, 'scope-forbidden', 'sourceId']);
});

test('decisions of one batch stand in their sessions, which nobody ends meanwhile, and are signed by their agents', async () => {
  const source = newSource();
  const started = accepted(await node.post('/v1/session/start', { sourceId: source }));
  const other = accepted(await node.post('/v1/session/start', { sourceId: source }));
  accepted(
    await node.post('/v1/agents/register', {
      agentId: 'batch agent',
      displayName: 'B',
      jurisdiction: 'EU',
      permittedUses: ['sort'],
    }),
  );
  const links = [
    { sessionId: String(started.sessionId) },
    { sessionId: String(started.sessionId), agentId: 'batch agent' },
    { sessionId: String(other.sessionId), agentId: 'batch agent', subjectRef: 'somebody' },
    { sessionId: 'ses_eu_none', agentId: 'batch agent' },
  ];
  const decisions = decisionsOf(source, 40, (i) => links[i % links.length] ?? {});
  const end = (sessionId: unknown) => node.post('/v1/session/end', { sourceId: source, sessionId: String(sessionId) });
  const [answer, duplicate] = await Promise.all([send(decisions), send(decisions.toReversed())]);
  assert.equal([accepted(answer).count, accepted(duplicate).count], [30, 30]);
  const signed = await readRecord(node.context.store, recordId(idsOf(answer.body)[2] ?? ''));
  assert.is(signed?.record.claims.agentId, 'batch agent');
  assert.is(signed?.record.links.session, String(other.attestationId));
  assert.is(resultsOf(answer.body)[3]?.code, 'session-not-found');
  const ended = await Promise.all([end(started.sessionId), send(decisions), end(other.sessionId), send(decisions)]);
  assert.equal(
    ended.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const late = accepted(await send(decisions));
  assert.equal([late.count, resultsOf(late)[0]?.code], [0, 'session-already-ended']);
});

test('a batch names a bounded number of incidents', async () => {
  const decisions = decisionsOf(newSource(), 40, (i) => ({ incidentId: `inc_eu_${i}` }));
  const codes = resultsOf(accepted(await send(decisions))).map(({ code }) => code);
  assert.equal([codes[0], codes[31], codes[32]], ['incident-not-found', 'incident-not-found', 'invalid-field']);
});

test('a body that ends half-way, or stands still, records nothing', async () => {
  const source = newSource();
  const text = JSON.stringify(decisionsOf(source, 5));
  const socket = connect(node.config.http.port, '127.0.0.1');
  await once(socket, 'connect');
  const fields = ['Host: x', `x-api-key: ${API_KEYS.unmetered}`, 'Content-Type: application/x-ndjson'];
  socket.write(`POST ${PATH} HTTP/1.1\r\n${fields.join('\r\n')}\r\nContent-Length: ${text.length}\r\n\r\n`);
  socket.write(text.slice(0, -1));
  // Another call is answered while the body stands still.
  assert.is(accepted(await send(decisionsOf(newSource(), 1))).count, 1);
  socket.destroy();
  await until('it is told of', async () => (await auditOf()).includes('400'));
  assert.is(await recordsOf(source), 0);
});

/** Statuses that the log of the account has of the endpoint. */
async function auditOf(): Promise<string[]> {
  const { entries } = (await node.get('/v1/audit-log?limit=20')).body;
  const own = Array.isArray(entries) ? entries.filter(isJsonObject) : [];
  return own.filter(({ action }) => action === `POST ${PATH}`).map(({ status }) => String(status));
}

test('whoever prefers to wait is told of the status that its records reached', async () => {
  const answer = await send(decisionsOf(newSource(), 2), { headers: { prefer: 'wait=1' } });
  assert.equal([accepted(answer).status, answer.headers.get('preference-applied')], ['buffered', 'wait=1']);
});

test.run();
