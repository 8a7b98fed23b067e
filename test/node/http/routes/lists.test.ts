import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bodyTable } from '../../../../node/records/record-tables.ts';
import { sourceKey } from '../../../../node/records/sources/sources.ts';
import { PROOF_WINDOW_MS } from '../../../../node/verification/attestation/attestation-answer.ts';
import { type AttestationsAnswer, AttestationsAnswerShape } from '../../../../protocol/api/attestations.ts';
import { type ContinuityAnswer, ContinuityAnswerShape } from '../../../../protocol/api/continuity.ts';
import { nodeId, recordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { eraseKey } from '../../../fixtures/payload-keys.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type Ask } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { requireProblem } from '../problem-shape.ts';

let ahead = 0;
const now = () => Date.now() + ahead;
const network = await TestNetwork.start({ ledger: 'local', overrides: { now } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());
const isList = Compile(AttestationsAnswerShape);
const isContinuity = Compile(ContinuityAnswerShape);
const DEVELOPER = { key: API_KEYS.developer };
let unique = 0;

const newSource = (): string => `source ${++unique}/ü`;

async function attested(sourceId: string, count: number, more: JsonObject = {}, ask: Ask = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    ids.push(await node.attest({ n: ++unique }, { sourceId, ...more }, ask));
  }
  return ids;
}

async function list(query: Record<string, string>, ask: Ask = {}): Promise<AttestationsAnswer> {
  const { status, body, text } = await node.get(`/v1/attestations?${new URLSearchParams(query).toString()}`, ask);
  if (status !== 200 || !isList.Check(body)) throw new Error(`no list: ${text}`);
  return body;
}

/** All pages of a list. */
async function whole(query: Record<string, string>, ask: Ask = {}): Promise<AttestationsAnswer['items']> {
  const items: AttestationsAnswer['items'] = [];
  let cursor: string | null = null;
  do {
    const page: AttestationsAnswer = await list({ ...query, ...(cursor === null ? {} : { cursor }) }, ask);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

async function continuity(sourceId: string, query = '', ask: Ask = {}): Promise<ContinuityAnswer> {
  const answer = await node.get(`/v1/sources/${encodeURIComponent(sourceId)}/continuity${query}`, ask);
  if (answer.status !== 200 || !isContinuity.Check(answer.body)) throw new Error(`no continuity: ${answer.text}`);
  return answer.body;
}

test('a source is listed in its own order, page by page, with what each record is', async () => {
  const sourceId = newSource();
  const ids = await attested(sourceId, 7);
  const tiered = await node.post('/v1/tiered-attest', {
    sourceId,
    data: {},
    complianceMeta: { serviceEventType: 'PERFORMANCE_TEST' },
  });
  const all = [...ids, String(tiered.body.attestationId)];
  assert.equal(
    (await whole({ sourceId, limit: '3' })).map(({ attestationId }) => attestationId as string),
    all,
  );
  const { items, listedFrom, nextCursor, unreadable } = await list({ sourceId });
  assert.equal([listedFrom, nextCursor, unreadable], [null, null, []]);
  const [first, last] = [items[0], items.at(-1)];
  assert.equal(
    [first?.recordKind, first?.sourceId, first?.sourceSeq, first?.status, first?.eventType],
    ['decision', sourceId, 1, 'pending', 'DECISION'],
  );
  assert.equal([last?.status, last?.eventType, last?.payloadState], ['buffered', 'PERFORMANCE_TEST', 'available']);
  await eraseKey(node.context.store, ids[0] ?? '');
  assert.is((await list({ sourceId })).items[0]?.payloadState, 'erased');
});

test('the status is that of the ledger', async () => {
  const sourceId = newSource();
  const [id = ''] = await attested(sourceId, 1);
  await node.seal();
  await attested(sourceId, 1);
  await until('confirmed', async () => (await node.get(`/v1/status/${id}`)).body.status === 'confirmed');
  assert.equal(
    (await list({ sourceId })).items.map(({ status }) => status),
    ['confirmed', 'pending'],
  );
});

test('without a source all of the account are listed, one source after the other', async () => {
  const [a, b] = [newSource(), newSource()];
  const mine = { key: API_KEYS.enterprise };
  await attested(a, 3, {}, mine);
  await attested(b, 3, {}, mine);
  await attested(a, 2, {}, mine);
  const items = await whole({ limit: '2' }, mine);
  const order = [a, b].toSorted((x, y) => sourceKey(x).localeCompare(sourceKey(y)));
  assert.equal(
    items.map(({ sourceId, sourceSeq }) => [sourceId, sourceSeq]),
    order.flatMap((sourceId) => Array.from({ length: sourceId === a ? 5 : 3 }, (_, i) => [sourceId, i + 1])),
  );
  assert.equal(await whole({ sourceId: a }), [], 'another account sees none of them');
});

test('a list is filtered by time and kind', async () => {
  const sourceId = newSource();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    ids.push(...(await attested(sourceId, 1)));
    ahead += 10;
  }
  const { items } = await list({ sourceId });
  const at = (index: number) => String(items[index]?.submittedAt);
  const found = async (query: Record<string, string>) =>
    (await whole({ sourceId, ...query })).map(({ attestationId }) => attestationId as string);
  assert.equal(await found({ from: at(2), to: at(4) }), ids.slice(2, 4));
  assert.equal(await found({ from: at(0).replace('Z', '+00:00') }), ids);
  assert.equal(await found({ to: at(0) }), []);
  assert.equal(await found({ kind: 'incident' }), []);
  assert.equal(await found({ kind: 'decision' }), ids);
});

test('a cursor leads on under the filters that it was made with, and is refused under others', async () => {
  const [sourceId, other] = [newSource(), newSource()];
  const ids = await attested(sourceId, 3, { modelId: 'm1' });
  await attested(other, 3);
  const from = '2026-01-01T00:00:00Z';
  const first = await list({ sourceId, from, modelId: 'm1', limit: '2' });
  const cursor = first.nextCursor ?? '';
  const second = await list({ sourceId, from: '2026-01-01', modelId: 'm1', cursor });
  assert.equal(
    [...first.items, ...second.items].map(({ attestationId }) => attestationId),
    ids,
  );
  const others: readonly Record<string, string>[] = [
    {},
    { sourceId, from },
    { sourceId: other, from, modelId: 'm1' },
    { sourceId, from, modelId: 'm2' },
    { sourceId, from, modelId: 'm1', kind: 'decision' },
    { sourceId, from, modelId: 'm1', to: '2027-01-01' },
    { sourceId, from: '2026-01-02', modelId: 'm1' },
  ];
  for (const filters of others) {
    const query = new URLSearchParams({ ...filters, cursor }).toString();
    requireProblem(await node.get(`/v1/attestations?${query}`), 'invalid-field', query, 'cursor');
  }
});

test('a query of another form is refused by its parameter', async () => {
  const cases: readonly [query: string, field: string, code?: 'time-order'][] = [
    ['from=yesterday', 'from'],
    ['to=2026-13-01T00:00:00Z', 'to'],
    ['from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z', 'to', 'time-order'],
    ['kind=rumour', 'kind'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=ten', 'limit'],
    ['cursor=AAAA', 'cursor'],
    ['cursor=WyJ4IiwxXQ', 'cursor'],
    ['sourceId=', 'sourceId'],
    ['zork=1', 'zork'],
    ['limit=1&limit=2', 'limit'],
  ];
  for (const [query, field, code = 'invalid-field'] of cases) {
    requireProblem(await node.get(`/v1/attestations?${query}`), code, query, field);
  }
  const path = `/v1/sources/${encodeURIComponent(newSource())}/continuity`;
  for (const [query, field] of [
    ['from=0', 'from'],
    ['from=5&to=4', 'to'],
    ['to=x', 'to'],
    ['cursor=AAAA', 'cursor'],
    ['cursor=WzUsNF0', 'cursor'],
    ['limit=5', 'limit'],
  ] as const) {
    requireProblem(await node.get(`${path}?${query}`), 'invalid-field', query, field);
  }
});

test('a key sees what it may: by scope, and by source', async () => {
  const [mine, theirs] = [newSource(), newSource()];
  await attested(mine, 2);
  await attested(theirs, 2);
  const keyWith = async (terms: JsonObject) => ({ key: String((await node.post('/v1/keys', terms)).body.apiKey) });
  const bound = await keyWith({ scopes: ['proof:read'], sources: [mine, 'unknown'] });
  assert.equal(
    (await whole({ limit: '1' }, bound)).map(({ sourceId }) => sourceId),
    [mine, mine],
  );
  const query = new URLSearchParams({ sourceId: theirs }).toString();
  requireProblem(await node.get(`/v1/attestations?${query}`, bound), 'scope-forbidden', 'another source', 'sourceId');
  const path = `/v1/sources/${encodeURIComponent(theirs)}/continuity`;
  requireProblem(await node.get(path, bound), 'scope-forbidden', 'continuity of another source', 'sourceId');
  assert.is((await continuity(mine, '', bound)).lastSeq, 2);
  const writing = await keyWith({ scopes: ['attest:write'] });
  requireProblem(await node.get('/v1/attestations', writing), 'scope-forbidden', 'no scope');
  requireProblem(await node.get(path, writing), 'scope-forbidden', 'no scope for continuity');
  requireProblem(await node.get('/v1/attestations', { key: null }), 'api-key-missing', 'no key');
});

test('the continuity of a source says what there is, what is missing and what does not follow', async () => {
  const sourceId = newSource();
  await attested(sourceId, 6);
  const healthy = await continuity(sourceId);
  assert.equal([healthy.sourceId, healthy.node, healthy.firstSeq, healthy.lastSeq], [sourceId, 'eu', 1, 6]);
  assert.equal([healthy.ranges, healthy.gaps, healthy.forks, healthy.nextCursor], [[{ from: 1, to: 6 }], [], [], null]);
  assert.match(String(healthy.head), /^sha256:/);
  const part = await continuity(sourceId, '?from=2&to=3');
  assert.equal([part.checked, part.ranges], [{ from: 2, to: 3 }, [{ from: 2, to: 3 }]]);
  assert.is((await continuity(sourceId, '?from=7')).checked, null);
  const { attestationId } = (await list({ sourceId })).items[2] ?? {};
  const evidence = await node.context.evidence(recordId(String(attestationId)));
  const seq = evidence?.record.seq ?? 0;
  await node.context.store.write([bodyTable.put([nodeId('eu'), seq], '{}')]);
  const hurt = await continuity(sourceId);
  assert.equal([hurt.gaps, hurt.forks], [[{ from: 3, to: 3, reason: 'damaged' }], []]);
  const { items, unreadable } = await list({ sourceId });
  assert.equal([items.length, unreadable], [5, [{ sourceId, sourceSeq: 3 }]]);
  requireProblem(await node.get('/v1/sources/nothing/continuity'), 'source-not-found', 'unknown');
  const path = `/v1/sources/${encodeURIComponent(sourceId)}/continuity`;
  requireProblem(await node.get(path, DEVELOPER), 'source-not-found', 'of another account');
});

test('the Developer tier lists seven days, and checks continuity for ever', async () => {
  const sourceId = newSource();
  await attested(sourceId, 2, {}, DEVELOPER);
  const early = (await list({ sourceId }, DEVELOPER)).items[1]?.submittedAt ?? '';
  ahead = PROOF_WINDOW_MS / 2;
  const [late] = await attested(sourceId, 1, {}, DEVELOPER);
  assert.is((await list({ sourceId }, DEVELOPER)).items.length, 3);
  ahead = PROOF_WINDOW_MS + 60_000;
  const { items, listedFrom } = await list({ sourceId }, DEVELOPER);
  assert.equal(
    items.map(({ attestationId }) => attestationId as string),
    [late],
  );
  assert.ok(listedFrom !== null && listedFrom > early);
  assert.is((await list({ sourceId, from: early }, DEVELOPER)).items.length, 1);
  const before = `/v1/attestations?${new URLSearchParams({ from: early, to: early }).toString()}`;
  requireProblem(await node.get(before, DEVELOPER), 'proof-window-expired', 'before the window', 'to');
  assert.equal((await node.get(before)).status, 200, 'other tiers list all');
  assert.equal((await continuity(sourceId, '', DEVELOPER)).ranges, [{ from: 1, to: 3 }]);
});

test.run();
