import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  DeletedPackAnswerShape,
  PackAnswerShape,
  PackLifetimeAnswerShape,
  PacksAnswerShape,
} from '../../../../protocol/api/evidence-packs.ts';
import type { ProblemCode } from '../../../../node/http/problem-codes.ts';
import { PACK_FILE } from '../../../../node/packs/pack-calls.ts';
import { parseJson } from '../../../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { PACK_FILES, packStatement } from '../../../../protocol/pack/manifest.ts';
import { packErasures, recordLine } from '../../../../protocol/pack/pack-lines.ts';
import { askedPack, filesOf, judgedPack, packFile, settledPack } from '../../../fixtures/made-pack.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const DAY_MS = 86_400_000;
/** Batches are sealed soon, so that no pack waits for long. In milliseconds. */
const SOON_MS = 200;
/** What stands in payloads, and nowhere else. */
const SECRET = 'Ada Lovelace of Marylebone';
/** A name that a spreadsheet would run. */
const FORMULA = '=HYPERLINK("http://198.51.100.7";"paid")';

/** How far the node's clock is ahead of the true one. In milliseconds. */
let ahead = 0;
const network = await TestNetwork.start({
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS },
  overrides: { now: () => Date.now() + ahead, recordClock: Date.now },
});
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const requirePack = shapeCheck(PackAnswerShape);
const requireList = shapeCheck(PacksAnswerShape);
const requireDeleted = shapeCheck(DeletedPackAnswerShape);
const requireLifetime = shapeCheck(PackLifetimeAnswerShape);
const requireErasures = packErasures.parse;

const OTHER = { key: API_KEYS.enterprise };
const DEVELOPER = { key: API_KEYS.developer };

function now(): string {
  return new Date(Date.now() + ahead).toISOString();
}

async function confirmed(id: string): Promise<void> {
  await node.seal();
  await until(`${id} to be confirmed`, async () => (await node.get(`/v1/status/${id}`)).body.status === 'confirmed');
}

let cases = 0;

/** Records of a source, each with a secret in its payload. */
async function attested(sourceId: string, count: number, more: JsonObject = {}): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await node.attest({ case: cases++, name: SECRET }, { sourceId, ...more }));
  return ids;
}

const ask = (question: JsonObject, terms = {}): Promise<HttpAnswer> => node.post('/v1/evidence-packs', question, terms);

function idOf({ packId }: JsonObject): string {
  return String(packId);
}

/** Before the period, within it, and after it: of two sources, one of which has none before. */
await attested('loans', 2);
await new Promise((resolve) => setTimeout(resolve, 5));
const from = now();
const within = await attested('loans', 5, { modelId: 'scorer', modelVersion: '3' });
await attested(FORMULA, 2);
const override = await node.post('/v1/human-override', {
  sourceId: 'loans',
  originalAttestationId: within[0] ?? '',
  reviewerId: 'Grace Hopper',
  reviewOutcome: 'confirmed',
  reason: `looked at again: ${SECRET}`,
});
assert.is(override.status, 200, override.text);
await new Promise((resolve) => setTimeout(resolve, 5));
const to = now();
const [after = ''] = await attested('loans', 1);
await attested('others', 1);
await confirmed(after);
const period = { sources: ['loans', FORMULA], from, to };
const first = await askedPack(node, period);

test('a pack has the records of its sources in the period, their neighbours and their proofs, and is verified', async () => {
  requirePack(first);
  assert.is(first.state, 'ready', JSON.stringify(first));
  const bytes = await packFile(node, idOf(first));
  assert.is(bytes.length, first.bytes);
  const verdict = await judgedPack(node, bytes);
  assert.equal(verdict.problems, []);
  assert.is(verdict.word, 'verified');
  assert.is(verdict.manifestHash, first.manifestHash);
  const files = await filesOf(bytes);
  assert.equal([...files.keys()], Object.values(PACK_FILES));
  const records = linesOf(files, PACK_FILES.records).map((line) => parseJson(recordLine.parse(line).body));
  const numbers = records
    .filter(isJsonObject)
    .map(({ sourceId, sourceSeq }) => `${String(sourceId)} ${String(sourceSeq)}`);
  assert.equal(
    numbers.filter((one) => one.startsWith('loans')),
    [2, 3, 4, 5, 6, 7, 8, 9].map((seq) => `loans ${seq}`),
  );
  assert.equal(
    numbers.filter((one) => one.startsWith('=')),
    [1, 2].map((seq) => `${FORMULA} ${seq}`),
  );
  assert.is(numbers.length, 10);
  assert.equal(first.progress, { done: 10, total: 10 });
});

test('the hash of its manifest is a record of its own', async () => {
  const { body } = await node.get(`/v1/bundles/${String(first.attestationId)}?partial=1`);
  const record = isJsonObject(body.record ?? null) ? body.record : {};
  const told = parseJson(String(isJsonObject(record ?? null) ? Object(record).body : ''));
  assert.ok(isJsonObject(told) && isJsonObject(told.claims ?? null));
  assert.match(JSON.stringify(told), `"packManifest":"${String(first.manifestHash)}"`);
});

test('without disclosure no text of a payload and no person of one stands in any file', async () => {
  const files = await filesOf(await packFile(node, idOf(first)));
  for (const [name, text] of files) {
    if (name.startsWith('meridian-verify')) continue;
    for (const secret of ['Lovelace', 'Hopper', 'looked at again']) {
      assert.not.ok(text.includes(secret), `${secret} in ${name}`);
      assert.not.ok(hexOfPdf(text).includes(secret), `${secret} in ${name}, as a PDF writes it`);
    }
  }
});

test('the table runs no formula in a spreadsheet, and the narrowed one has only the kinds that were asked for', async () => {
  const files = await filesOf(await packFile(node, idOf(first)));
  const rows: Record<string, string>[] = parseCsv(files.get(PACK_FILES.table) ?? '', { columns: true });
  assert.is(rows.length, 8);
  assert.ok(rows.some(({ sourceId }) => sourceId === `'${FORMULA}`));
  for (const cell of rows.flatMap((row) => Object.values(row))) assert.not.match(cell, /^[\s]*[=+\-@\t\r]/);
  const narrow = await askedPack(node, { ...period, kinds: ['human_override'] });
  const narrowed = await filesOf(await packFile(node, idOf(narrow)));
  const few: Record<string, string>[] = parseCsv(narrowed.get(PACK_FILES.table) ?? '', { columns: true });
  assert.equal(
    few.map(({ kind }) => kind),
    ['human_override'],
  );
  assert.is(linesOf(narrowed, PACK_FILES.records).length, 10, 'all records are there');
  assert.match(narrowed.get(PACK_FILES.page) ?? '', /do not show, though records\.jsonl has them: decision/);
});

test('the report has its sections, and names the sources that were not asked for', async () => {
  const page = (await filesOf(await packFile(node, idOf(first)))).get(PACK_FILES.page) ?? '';
  for (const id of ['scope', 'gaps', 'incidents', 'reviews', 'retention', 'continuity', 'erasures', 'not-asked']) {
    assert.match(page, `id="${id}"`);
  }
  assert.match(page, /other sources of the account at this node were not asked for: [^<]*others/);
  assert.match(page, String(override.body.overrideId));
});

test('the same question a day later, with new records between, is answered with the same bytes', async () => {
  const bytes = await packFile(node, idOf(first));
  const question = { ...period, asOf: String(first.asOf) };
  await confirmed((await attested('loans', 3)).at(-1) ?? '');
  ahead = DAY_MS;
  try {
    const again = await ask(question);
    assert.equal([again.body.packId, again.body.state], [first.packId, 'ready']);
    const gone = await node.send('DELETE', `/v1/evidence-packs/${idOf(first)}`, undefined);
    requireDeleted(gone.body);
    requireProblem(await node.get(`/v1/evidence-packs/${idOf(first)}`), 'pack-not-found', 'deleted');
    requireProblem(await node.get(`/v1/evidence-packs/${idOf(first)}/file`), 'pack-not-found', 'deleted');
    const made = await askedPack(node, question);
    assert.equal(
      [made.packId, made.manifestHash, made.attestationId],
      [first.packId, first.manifestHash, first.attestationId],
    );
    assert.ok(Buffer.from(bytes).equals(await packFile(node, idOf(made))));
  } finally {
    ahead = 0;
  }
  const other = await askedPack(node, { ...period, asOf: now() });
  assert.is.not(other.packId, first.packId);
});

test('a pack is given out in parts, and a download that broke off goes on', async () => {
  const whole = Buffer.from(await packFile(node, idOf(first)));
  const part = (headers: Record<string, string>) =>
    fetch(`${node.baseUrl}/v1/evidence-packs/${idOf(first)}/file`, {
      headers: { 'x-api-key': API_KEYS.unmetered, ...headers },
    });
  const some = await part({ Range: 'bytes=100-199' });
  assert.equal([some.status, some.headers.get('content-range')], [206, `bytes 100-199/${whole.length}`]);
  assert.ok(whole.subarray(100, 200).equals(Buffer.from(await some.arrayBuffer())));
  const etag = some.headers.get('etag') ?? '';
  const rest = await part({ Range: `bytes=${whole.length - 50}-`, 'If-Range': etag });
  assert.ok(whole.subarray(-50).equals(Buffer.from(await rest.arrayBuffer())));
  const last = await part({ Range: 'bytes=-10' });
  assert.ok(whole.subarray(-10).equals(Buffer.from(await last.arrayBuffer())));
  const other = await part({ Range: 'bytes=0-9', 'If-Range': '"another"' });
  assert.equal([other.status, (await other.arrayBuffer()).byteLength], [200, whole.length]);
  const beyond = await part({ Range: `bytes=${whole.length}-` });
  assert.equal([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${whole.length}`]);
  await beyond.arrayBuffer();
});

test('what cannot be asked is refused, and makes nothing', async () => {
  const refused = async (question: JsonObject, code: ProblemCode, field?: string) => {
    const answer = await ask(question);
    requireProblem(answer, code, JSON.stringify(question));
    if (field === undefined) return;
    const [error] = Array.isArray(answer.body.errors) ? answer.body.errors : [];
    assert.is(isJsonObject(error ?? null) ? Object(error).field : undefined, field);
  };
  const { body } = await node.get('/v1/evidence-packs');
  requireList(body);
  const before = JSON.stringify(body.packs);
  await refused({ ...period, systems: ['scoring'] }, 'invalid-field', 'systems');
  await refused({ from, to }, 'missing-field', 'sources');
  await refused({ systems: ['no such system'], from, to }, 'system-not-found', 'systems.0');
  await refused({ sources: ['loans', 'never seen'], from, to }, 'source-not-found', 'sources.1');
  await refused({ ...period, asOf: new Date(Date.now() + DAY_MS).toISOString() }, 'time-in-future', 'asOf');
  await refused({ ...period, asOf: '2020-01-01T00:00:00Z' }, 'as-of-unavailable');
  await refused({ ...period, to: from }, 'time-order', 'to');
  await refused({ ...period, frameworks: ['NO_SUCH_LAW'] }, 'framework-not-found');
  await refused({ ...period, kinds: ['no such kind'] }, 'invalid-field', 'kinds.0');
  await refused({ sources: ['loans'] }, 'missing-field', 'from');
  assert.is(JSON.stringify((await node.get('/v1/evidence-packs')).body.packs), before);
});

test('a pack of the systems of the register has their sources', async () => {
  const system = await node.post('/v1/system', {
    systemRef: 'credit-scoring',
    role: 'deployer',
    intendedPurpose: 'Scores applications.',
    sources: ['loans', FORMULA],
  });
  if (system.status !== 200) throw new Error(system.text);
  await confirmed(String(system.body.attestationId));
  const { sources, systems, state } = await askedPack(node, { systems: ['credit-scoring'], from, to });
  assert.equal([sources, systems, state], [[FORMULA, 'loans'], ['credit-scoring'], 'ready']);
});

test('packs of another account are not there', async () => {
  const path = `/v1/evidence-packs/${idOf(first)}`;
  requireProblem(await node.get(path, OTHER), 'pack-not-found', 'read');
  requireProblem(await node.get(`${path}/file`, OTHER), 'pack-not-found', 'file');
  requireProblem(await node.send('DELETE', path, undefined, OTHER), 'pack-not-found', 'delete');
  assert.equal((await node.get('/v1/evidence-packs', OTHER)).body.packs, []);
  requireProblem(await ask(period, OTHER), 'source-not-found', 'its sources');
});

test('an auditor’s key deletes the pack that it has made, and no other; one that governs deletes any', async () => {
  const keyOf = async (terms: JsonObject) => ({ key: String((await node.post('/v1/keys', terms)).body.apiKey) });
  const [auditor, other] = [await keyOf({ preset: 'auditor' }), await keyOf({ preset: 'auditor' })];
  const end = (id: string, key: { readonly key: string }) =>
    node.send('DELETE', `/v1/evidence-packs/${id}`, undefined, key);
  requireProblem(await end(idOf(first), auditor), 'scope-forbidden', 'of another key');
  assert.is((await node.get(`/v1/evidence-packs/${idOf(first)}/file`, auditor)).status, 200);
  const asked = await ask({ ...period, frameworks: ['ISO_42001'] }, auditor);
  assert.is(asked.status, 200, asked.text);
  await settledPack(node, idOf(asked.body));
  requireProblem(await end(idOf(asked.body), other), 'scope-forbidden', 'of another auditor');
  requireDeleted((await end(idOf(asked.body), auditor)).body);
  const question = { ...period, frameworks: ['ISO_42001'], asOf: String(asked.body.asOf) };
  assert.is(idOf((await ask(question, other)).body), idOf(asked.body));
  await settledPack(node, idOf(asked.body));
  requireProblem(await end(idOf(asked.body), auditor), 'scope-forbidden', 'another has it made again');
  requireDeleted((await end(idOf(asked.body), await keyOf({ preset: 'compliance' }))).body);
});

test('a key that is limited to sources or to a period asks for no pack, and gets none', async () => {
  for (const limits of [{ sources: ['loans'] }, { from }]) {
    const { body, status, text } = await node.post('/v1/keys', { scopes: ['export:read'], ...limits });
    assert.is(status, 200, text);
    const key = { key: String(body.apiKey) };
    requireProblem(await ask(period, key), 'scope-forbidden', 'ask');
    requireProblem(await node.get(`/v1/evidence-packs/${idOf(first)}/file`, key), 'scope-forbidden', 'file');
    requireProblem(await node.get('/v1/evidence-packs', key), 'scope-forbidden', 'list');
  }
});

test('the window of the Developer tier applies to packs, which have no neighbours before it', async () => {
  const id = await node.attest({ case: 1 }, { sourceId: 'free' }, DEVELOPER);
  const start = now();
  const second = await node.attest({ case: 2 }, { sourceId: 'free' }, DEVELOPER);
  await confirmed(second);
  const end = new Date(Date.now() + 1_000).toISOString();
  const old = new Date(Date.now() - 8 * DAY_MS).toISOString();
  requireProblem(await ask({ sources: ['free'], from: old, to: end }, DEVELOPER), 'proof-window-expired', 'ask');
  const pack = await askedPack(node, { sources: ['free'], from: start, to: end }, DEVELOPER);
  const bytes = await packFile(node, idOf(pack), DEVELOPER);
  const verdict = await judgedPack(node, bytes);
  assert.equal([verdict.word, verdict.records, verdict.openBegins], ['verified', 1, 1], id);
  const files = await filesOf(bytes);
  assert.match(
    files.get(PACK_FILES.page) ?? '',
    /Those before it are not given out: that no record of the period comes/,
  );
  assert.match(files.get(PACK_FILES.readme) ?? '', 'and the neighbour after it');
  ahead = 8 * DAY_MS;
  const late = await node.get(`/v1/evidence-packs/${idOf(pack)}/file`, DEVELOPER);
  ahead = 0;
  requireProblem(late, 'proof-window-expired', 'file');
});

test('a pack with disclosure has contents and salts, and its making is a line of the key-use log', async () => {
  const pack = await askedPack(node, { ...period, disclosure: true });
  const bytes = await packFile(node, idOf(pack));
  const verdict = await judgedPack(node, bytes);
  assert.equal([verdict.word, verdict.disclosed, verdict.problems], ['verified', 10, []]);
  assert.ok(
    linesOf(await filesOf(bytes), PACK_FILES.records).every((line) => recordLine.parse(line).disclosure !== undefined),
  );
  const { body } = await node.get('/v1/audit-log?limit=500');
  const entries = Array.isArray(body.entries) ? body.entries.filter(isJsonObject) : [];
  const line = entries.find(({ action }) => action === 'evidence-pack.disclosed');
  assert.is(line?.subject, pack.packId);
});

test('contents that are erased leave a pack that disclosed them at once, and are named in every pack', async () => {
  const sources = ['erased'];
  const ids = await attested('erased', 3);
  await confirmed(ids.at(-1) ?? '');
  const end = new Date(Date.now() + 1_000).toISOString();
  const open = await askedPack(node, { sources, from, to: end, disclosure: true });
  const closed = await askedPack(node, { sources, from, to: end });
  const before = await packFile(node, idOf(closed));
  const erasure = await node.post('/v1/erasures', {
    attestationIds: [ids[1] ?? ''],
    legalBasis: 'Art. 17(1) GDPR',
    requestedBy: 'the person',
  });
  assert.is(erasure.status, 200, erasure.text);
  await confirmed(String(erasure.body.attestationId));
  const again = await settledPack(node, idOf(open));
  assert.is.not(again.manifestHash, open.manifestHash);
  const opened = await filesOf(await packFile(node, idOf(open)));
  const lines = linesOf(opened, PACK_FILES.records).map((line) => recordLine.parse(line));
  assert.equal(
    lines.map(({ disclosure }) => disclosure === undefined),
    [false, true, false],
  );
  const same = await askedPack(node, { sources, from, to: end, asOf: String(closed.asOf) });
  assert.is(same.packId, closed.packId);
  const afterwards = await filesOf(await packFile(node, idOf(closed)));
  const [erased] = requireErasures(afterwards.get(PACK_FILES.erasures) ?? '').erased;
  assert.equal([erased?.attestationId, erased?.erasure], [ids[1], erasure.body.attestationId]);
  assert.is((await judgedPack(node, await packFile(node, idOf(open)))).word, 'verified');
  assert.is((await judgedPack(node, await packFile(node, idOf(closed)))).word, 'verified');
  const [old, fresh] = [await filesOf(before), afterwards].map((files) =>
    packStatement.parse(files.get(PACK_FILES.manifest) ?? ''),
  );
  const changed = old?.files.filter(
    ({ path, sha256 }) => fresh?.files.find((one) => one.path === path)?.sha256 !== sha256,
  );
  assert.equal(
    changed?.map(({ path }) => path),
    [PACK_FILES.page, PACK_FILES.report, PACK_FILES.erasures],
  );
});

test('the account sets how long its packs are kept, and what is over is deleted', async () => {
  const days = await node.send('PUT', '/v1/evidence-packs/lifetime', JSON.stringify({ days: 400 }));
  requireLifetime(days.body);
  const { body } = await node.get('/v1/evidence-packs');
  assert.is(body.lifetimeDays, 400);
  const pack = await askedPack(node, { ...period, asOf: String(first.asOf) });
  const kept = Date.parse(String(pack.expiresAt)) - Date.now();
  assert.ok(kept > 390 * DAY_MS, String(pack.expiresAt));
  for (const wrong of [0, 1.5, 99_999]) {
    const refused = await node.send('PUT', '/v1/evidence-packs/lifetime', JSON.stringify({ days: wrong }));
    requireProblem(refused, 'invalid-field', String(wrong));
  }
});

test('more packs in the making than an account may have are refused with a time to come again', async () => {
  await attested('loans', 1);
  const answers = [];
  for (let i = 0; i < 8; i++) answers.push(await ask({ ...period, frameworks: ['EU_AI_ACT'] }));
  const busy = answers.find(({ status }) => status === 429);
  assert.ok(busy !== undefined, answers.map(({ status }) => status).join(' '));
  requireProblem(busy, 'packs-busy', 'busy');
  assert.ok(Number(busy.headers.get('retry-after')) > 0);
  for (const { body, status } of answers) if (status === 200) await settledPack(node, idOf(body));
});

test('a pack whose lifetime is over is deleted, also by a node that was away then, and its file with it', async () => {
  await node.send('PUT', '/v1/evidence-packs/lifetime', JSON.stringify({ days: 1 }));
  const pack = await askedPack(node, { ...period, asOf: String(first.asOf) });
  const folder = join(node.config.home, 'packs', idOf(pack));
  assert.equal(await readdir(folder), [PACK_FILE]);
  await node.stop();
  ahead = 2 * DAY_MS;
  await node.start();
  await until('it to be deleted', async () => (await node.get(`/v1/evidence-packs/${idOf(pack)}`)).status === 404);
  ahead = 0;
  await until('its file to be gone', async () => (await readdir(folder).catch(() => null)) === null);
});

function linesOf(files: ReadonlyMap<string, string>, name: string): readonly string[] {
  return (files.get(name) ?? '').split('\n').filter((line) => line !== '');
}

/** What a PDF writes in hex digits between angle brackets, as pdfkit writes texts. */
function hexOfPdf(text: string): string {
  if (!text.startsWith('%PDF')) return '';
  return [...text.matchAll(/<([0-9a-f]+)>/g)]
    .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
    .join('');
}

test.run();
