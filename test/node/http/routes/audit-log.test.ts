import { setTimeout as sleep } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openGate, serveApp } from '../../../fixtures/served-app.ts';
import type { CallerKey } from '../../../../node/accounts/caller.ts';
import { SCOPES } from '../../../../node/accounts/scopes.ts';
import { auditExportRoute, auditLogRoute } from '../../../../node/http/routes/audit-log.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { type AuditLogAnswer, AuditLogAnswerShape } from '../../../../protocol/api/audit-log.ts';
import { verifyAuditLog } from '../../../../protocol/audit/walk.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import {
  type AuditFixtureOptions,
  AuditFixture,
  LATE,
  NODE,
  temporaryDirectory,
  use,
} from '../../accounts/audit-log/audit-fixture.ts';

const ENTRIES = 250;
const compiled = Compile(AuditLogAnswerShape);
const directory = await temporaryDirectory();
let clock = LATE;
const options: AuditFixtureOptions = { now: () => (clock += 1000) };
const fixture = await AuditFixture.open(directory.path, options);
for (let i = 0; i < ENTRIES; i++) fixture.auditLog.note('acme', use(`att_${i}`));
fixture.auditLog.note('globex', use('secret'));
for (let i = 0; i < 60_000; i++) fixture.auditLog.note('large', use('x'.repeat(128)));
await fixture.auditLog.flush();

let key: CallerKey = { id: 'key_1', scopes: SCOPES, sources: null };
let account = 'acme';
const served = await serveApp(
  openGate(() => ({ account: { id: account, tier: 'standard', createdAt: timestampOf(LATE) }, key })),
  [auditLogRoute(fixture.store), auditExportRoute(fixture.store)],
);
const { base } = served;

test.after(async () => {
  await served[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

async function page(query: string): Promise<AuditLogAnswer> {
  const response = await fetch(`${base}/v1/audit-log?${query}`);
  const body: unknown = await response.json();
  assert.is(response.status, 200, JSON.stringify(body));
  if (!compiled.Check(body)) throw new Error(JSON.stringify(compiled.Errors(body)));
  return body;
}

async function refusal(path: string): Promise<string> {
  const response = await fetch(base + path);
  const body: unknown = await response.json();
  const isCoded = typeof body === 'object' && body !== null && 'code' in body;
  return `${response.status} ${isCoded ? String(body.code) : ''}`;
}

test('the log of the account comes newest first, page by page, and nobody else’s is in it', async () => {
  const seen: number[] = [];
  let cursor: string | null = null;
  do {
    const { account: of, entries, nextCursor } = await page(`limit=60${cursor === null ? '' : `&cursor=${cursor}`}`);
    assert.is(of, 'acme');
    seen.push(...entries.map(({ seq }) => seq));
    cursor = nextCursor;
  } while (cursor !== null);
  assert.equal(
    seen,
    Array.from({ length: ENTRIES }, (_, i) => ENTRIES - i),
  );
});

test('entries are linked by their hashes', async () => {
  const { entries } = await page('order=oldest&limit=3');
  assert.equal(
    entries.slice(1).map(({ prev }) => prev),
    entries.slice(0, -1).map(({ hash }) => hash),
  );
});

test('a period is from a time on, before another, in any offset', async () => {
  const at = (seconds: number) => new Date(LATE + seconds * 1000).toISOString();
  const { entries } = await page(`order=oldest&from=${at(10)}&to=${at(13)}`);
  assert.equal(
    entries.map(({ seq }) => seq),
    [10, 11, 12],
  );
  const offset = encodeURIComponent(at(10).replace('T23:59', 'T22:59').replace('.000Z', '-01:00'));
  assert.is((await page(`order=oldest&limit=1&from=${offset}`)).entries[0]?.seq, 10);
});

test('an export as JSONL verifies as the chain of the account', async () => {
  const response = await fetch(`${base}/v1/audit-log/export`);
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson');
  assert.match(response.headers.get('content-disposition') ?? '', /attachment; filename="audit-log-acme.jsonl"/);
  const lines = (await response.text()).split('\n').slice(0, -1);
  assert.is(verifyAuditLog(nativeSuite, lines, { node: NODE, account: 'acme' })?.last, ENTRIES);
});

test('an export as CSV has a header and a row for each entry', async () => {
  const response = await fetch(`${base}/v1/audit-log/export?format=csv`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/csv; charset=utf-8/);
  assert.is((await response.text()).split('\r\n').length, 1 + ENTRIES + 1);
});

test('an account without a log has an empty page and an empty file', async () => {
  account = 'nobody';
  assert.equal(await page(''), { success: true, account: 'nobody', entries: [], nextCursor: null });
  assert.is(await (await fetch(`${base}/v1/audit-log/export`)).text(), '');
  account = 'acme';
});

test('bad parameters are 400, each by its name', async () => {
  const { nextCursor } = await page('order=oldest&limit=1');
  const bad = [
    'from=yesterday',
    'to=2026-02-30T00:00:00Z',
    'limit=0',
    'limit=501',
    'limit=1e2',
    'order=random',
    'cursor=x',
    `cursor=${nextCursor}&order=newest`,
    `cursor=${nextCursor}&order=oldest&to=2027-01-01`,
    'account=globex',
    'limit=1&limit=2',
  ];
  for (const query of bad) assert.is(await refusal(`/v1/audit-log?${query}`), '400 invalid-field', query);
  const reversed = 'from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z';
  for (const path of ['/v1/audit-log', '/v1/audit-log/export']) {
    assert.is(await refusal(`${path}?${reversed}`), '400 time-order');
  }
  assert.is(await refusal('/v1/audit-log/export?format=xlsx'), '400 invalid-field');
});

test('a key that is limited to some sources does not see what others did', async () => {
  key = { ...key, sources: ['loan-model'] };
  assert.is(await refusal('/v1/audit-log'), '403 scope-forbidden');
  assert.is(await refusal('/v1/audit-log/export'), '403 scope-forbidden');
  key = { ...key, sources: null };
});

test('exports that nobody reads are bounded, and make room when their readers go away', async () => {
  account = 'large';
  const gone = new AbortController();
  await fetch(`${base}/v1/audit-log/export`, { signal: gone.signal });
  await fetch(`${base}/v1/audit-log/export`, { signal: gone.signal });
  assert.is(await refusal('/v1/audit-log/export'), '429 rate-limited');
  gone.abort();
  let answered = 429;
  for (let i = 0; i < 200 && answered === 429; i++) {
    await sleep(10);
    const response = await fetch(`${base}/v1/audit-log/export?from=2030-01-01T00:00:00Z`);
    await response.text();
    answered = response.status;
  }
  account = 'acme';
  assert.is(answered, 200);
});

test.run();
