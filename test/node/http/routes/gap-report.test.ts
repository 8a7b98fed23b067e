import { nodeId } from '../../../../protocol/ids.ts';
import { KeyedLock } from '../../../../node/concurrency/keyed-lock.ts';
import { GovernanceRecords } from '../../../../node/governance/governance-records.ts';
import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openGate, serveApp } from '../../../fixtures/served-app.ts';
import type { CallerKey } from '../../../../node/accounts/caller.ts';
import { SCOPES } from '../../../../node/accounts/scopes.ts';
import { frameworkRoute, frameworksRoute } from '../../../../node/http/routes/frameworks.ts';
import { gapReportRoute } from '../../../../node/http/routes/gap-report.ts';
import {
  FRAMEWORK_EXAMPLE,
  FrameworkAnswerShape,
  FRAMEWORKS_EXAMPLE,
  FrameworksAnswerShape,
} from '../../../../protocol/api/frameworks.ts';
import { GAP_REPORT_EXAMPLE, type GapReportAnswer, GapReportAnswerShape } from '../../../../protocol/api/gap-report.ts';
import { catalogue } from '../../../../protocol/frameworks/catalogue.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';
import { countedDraft, TallyFixture } from '../../records/counts/tally-fixture.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 21, 12);
const OVERRIDE = ['originalAttestationId', 'overrideDecision', 'overrideReason', 'reviewOutcome', 'reviewerId'];
const ORIGINAL = recordId('att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ');
const bound = { modelId: 'm', modelVersion: '1', riskLevel: 'high' };
const compiled = Compile(GapReportAnswerShape);

const directory = await temporaryDirectory();
let clock = NOW - 400 * DAY_MS;
const fixture = await TallyFixture.open(directory.path, { now: () => clock });
await fixture.intake.submit(countedDraft('loans', { eventType: 'TECH_DOC' }));
clock = NOW - 10 * DAY_MS;
await fixture.intake.submitAll(Array.from({ length: 5 }, () => countedDraft('loans', bound)));
await fixture.intake.submit(countedDraft('loans', { ...bound, environment: 'test' }));
await fixture.intake.submit(countedDraft('loans', {}, { kind: 'session_start' }));
await fixture.intake.submit(countedDraft('meridian/audit-log', { keyEvent: 'audit-head' }, { kind: 'key_event' }));
clock = NOW;
const override = await fixture.intake.submit(
  countedDraft(
    'fraud',
    { given: OVERRIDE, reviewer: `hmac-sha256:${'0'.repeat(64)}`, reviewOutcome: 'overridden' },
    { kind: 'human_override', links: { original: ORIGINAL } },
  ),
);
await fixture.intake.submit(countedDraft('fraud', { eventType: 'PRICE_CHANGE', environment: 'staging' }));
await fixture.intake.submit(countedDraft('fraud', { eventType: 'PRICE_CHANGE' }));
const notApplicable = { eventType: 'NOT_APPLICABLE', framework: 'EU_AI_ACT', clause: '73(4)' };
await fixture.intake.submit(countedDraft('fraud', notApplicable));
await fixture.intake.submit(countedDraft('secret', {}, { account: 'globex' }));

let key: CallerKey = { id: 'key_1', scopes: SCOPES, sources: null };
const served = await serveApp(
  openGate(() => ({ account: { id: 'acme', tier: 'standard', createdAt: timestampOf(0) }, key })),
  [
    frameworksRoute(),
    frameworkRoute(),
    gapReportRoute({
      store: fixture.store,
      counters: fixture.counters,
      governanceRecords: new GovernanceRecords(fixture.store, new KeyedLock()),
      node: nodeId('eu'),
      now: () => NOW,
    }),
  ],
);
const { base } = served;

test.before.each(() => {
  key = { id: 'key_1', scopes: SCOPES, sources: null };
});

test.after(async () => {
  await served[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

async function report(query: string): Promise<GapReportAnswer> {
  const response = await fetch(`${base}/v1/reports/gap?${query}`);
  const body: unknown = await response.json();
  assert.is(response.status, 200, JSON.stringify(body));
  if (!compiled.Check(body)) throw new Error(JSON.stringify(compiled.Errors(body)));
  return body;
}

async function refusal(path: string): Promise<readonly [status: number, code: unknown, field: unknown]> {
  const response = await fetch(base + path);
  const { code, errors }: { code?: unknown; errors?: readonly { field?: unknown }[] } = await response.json();
  return [response.status, code, errors?.[0]?.field];
}

function clauseIn({ clauses }: GapReportAnswer, framework: string, clause: string) {
  const found = clauses.find((candidate) => candidate.framework === framework && candidate.clause === clause);
  assert.ok(found !== undefined, `${framework} ${clause}`);
  return found;
}

test('a report says of each clause of the framework what is on record', async () => {
  const answer = await report('framework=EU_AI_ACT');
  assert.equal([answer.framework, answer.from, answer.to], ['EU_AI_ACT', '2025-11-22', '2026-11-21']);
  assert.is(answer.clauses.length, catalogue.frameworks[0]?.clauses.length);
  assert.equal([answer.catalogueVersion, answer.asOf], [catalogue.catalogueVersion, catalogue.asOf]);
  assert.is(clauseIn(answer, 'EU_AI_ACT', '12(2)').status, 'present');
  assert.equal(clauseIn(answer, 'EU_AI_ACT', '12(2)').counts, { decision: 5, 'event:MODEL_CHANGE': 0 });
  assert.equal(clauseIn(answer, 'EU_AI_ACT', '12(3)(a)').missing, ['no session_end']);
  assert.equal(clauseIn(answer, 'EU_AI_ACT', '14').sampleIds, [override.record.id]);
  assert.is(clauseIn(answer, 'EU_AI_ACT', '73(4)').status, 'asserted-not-applicable');
  assert.is(clauseIn(answer, 'EU_AI_ACT', '73(3)').status, 'absent');
  assert.is(clauseIn(answer, 'EU_AI_ACT', '73(2)').numbers[0]?.value, 15);
});

test('without a framework all of them are reported, but for what is stayed or rescinded', async () => {
  const { clauses, framework } = await report('');
  assert.is(framework, null);
  const inUse = catalogue.frameworks
    .flatMap((one) => one.clauses)
    .filter(({ status }) => status !== 'stayed' && status !== 'rescinded');
  assert.is(clauses.length, inUse.length);
});

test('test and staging count only where that is asked for', async () => {
  const without = await report('framework=EU_AI_ACT');
  assert.equal(without.excluded, { test: 1, staging: 1 });
  const including = await report('framework=EU_AI_ACT&includeTest=true');
  assert.equal(including.excluded, { test: 0, staging: 0 });
  assert.is(including.records, without.records + 2);
  assert.is(clauseIn(including, 'EU_AI_ACT', '12(2)').counts.decision, 6);
});

test('events without a clause are listed', async () => {
  const { unmappedEvents } = await report('framework=EU_AI_ACT');
  assert.equal(
    unmappedEvents.map(({ eventType, count }) => [eventType, count]),
    [['PRICE_CHANGE', 1]],
  );
});

test('one source is reported by itself, with the heads of the key-use log', async () => {
  const answer = await report('sourceId=loans');
  assert.is(answer.sourceId, 'loans');
  assert.is(clauseIn(answer, 'EU_AI_ACT', '14').status, 'absent');
  assert.is(clauseIn(answer, 'EU_AI_ACT', '12(2)').counts.decision, 5);
  assert.is(clauseIn(answer, 'SEC_17A4', '17a-4(f)(2)(i)').counts.key_event, 1);
});

test('days outside the range do not count, and both ends do', async () => {
  const documents = async (query: string) =>
    clauseIn(await report(query), 'EU_AI_ACT', '11 + Annex IV').counts['event:TECH_DOC'];
  assert.is(await documents(''), 0);
  assert.is(await documents('from=2025-10-17&to=2025-10-17'), 1);
  assert.is(await documents('from=2025-10-18'), 0);
  assert.is(await documents('to=2025-10-16'), 0);
  assert.is(await documents('from=2025-10-18T01:00:00%2B02:00'), 1);
  assert.is(await documents('from=2016-11-21&to=2026-11-20'), 1);
});

test('a key of some sources sees those alone', async () => {
  key = { ...key, sources: ['fraud'] };
  const answer = await report('framework=EU_AI_ACT');
  assert.is(answer.records, 3);
  assert.is(clauseIn(answer, 'EU_AI_ACT', '12(2)').counts.decision, 0);
  assert.is((await report('sourceId=fraud')).records, 3);
  assert.equal(await refusal('/v1/reports/gap?sourceId=loans'), [403, 'scope-forbidden', undefined]);
  key = { ...key, sources: [] };
  assert.is((await report('')).records, 0);
});

test('another account is never seen', async () => {
  assert.equal(await refusal('/v1/reports/gap?sourceId=secret'), [404, 'source-not-found', 'sourceId']);
  assert.is((await report('from=2025-01-01')).records, 11);
});

test('what cannot be read is refused with the parameter that is wrong', async () => {
  for (const [query, code, field] of [
    ['framework=EU_GDPR', 'framework-not-found', undefined],
    ['framework=__proto__', 'framework-not-found', undefined],
    ['from=2026-02-30', 'invalid-field', 'from'],
    ['to=yesterday--', 'invalid-field', 'to'],
    ['from=2026-11-22', 'time-order', 'to'],
    ['from=2000-01-01', 'invalid-field', 'from'],
    ['to=9999-12-31T23:59:59-14:00', 'invalid-field', 'to'],
    ['includeTest=yes', 'invalid-field', 'includeTest'],
    ['sourceId=', 'invalid-field', 'sourceId'],
    ['sourceId=nobody', 'source-not-found', 'sourceId'],
    ['framework=EU_AI_ACT&framework=FINRA', 'invalid-field', 'framework'],
    ['verdict=1', 'invalid-field', 'verdict'],
  ] as const) {
    const [, refusedCode, refusedField] = await refusal(`/v1/reports/gap?${query}`);
    assert.equal([refusedCode, refusedField], [code, field], query);
  }
  assert.is((await report('to=0000-03-01')).from, '0000-01-01');
});

test('no report calls anybody compliant', async () => {
  assert.not.match(JSON.stringify(await report('includeTest=true')), /complian/i);
});

test('the catalogue is given in whole, and one framework at a time', async () => {
  const list: unknown = await (await fetch(`${base}/v1/frameworks`)).json();
  const compiledList = Compile(FrameworksAnswerShape);
  if (!compiledList.Check(list)) throw new Error(JSON.stringify(compiledList.Errors(list)));
  assert.is(list.frameworks.length, catalogue.frameworks.length);
  const compiledOne = Compile(FrameworkAnswerShape);
  for (const { id, clauses } of list.frameworks) {
    const response = await fetch(`${base}/v1/frameworks/${id}`);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    const one: unknown = await response.json();
    if (!compiledOne.Check(one)) throw new Error(JSON.stringify(compiledOne.Errors(one)));
    assert.is(one.clauses.length, clauses);
    assert.equal([one.id, one.catalogueVersion], [id, catalogue.catalogueVersion]);
  }
  assert.equal((await refusal('/v1/frameworks/eu_ai_act')).slice(0, 2), [404, 'framework-not-found']);
});

test('the examples of the documentation are of the documented shapes', () => {
  assert.ok(compiled.Check(GAP_REPORT_EXAMPLE), JSON.stringify(compiled.Errors(GAP_REPORT_EXAMPLE)));
  assert.ok(Compile(FrameworksAnswerShape).Check(FRAMEWORKS_EXAMPLE));
  assert.ok(Compile(FrameworkAnswerShape).Check(FRAMEWORK_EXAMPLE));
  for (const { catalogueVersion, asOf } of [GAP_REPORT_EXAMPLE, FRAMEWORKS_EXAMPLE, FRAMEWORK_EXAMPLE]) {
    assert.equal([catalogueVersion, asOf], [catalogue.catalogueVersion, catalogue.asOf]);
  }
});

test.run();
