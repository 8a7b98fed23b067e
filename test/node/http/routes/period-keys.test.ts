import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CallerKey } from '../../../../node/accounts/caller.ts';
import { SCOPES } from '../../../../node/accounts/scopes.ts';
import { apiRoutes } from '../../../../node/routes.ts';
import type { ProblemCode } from '../../../../node/http/problem-codes.ts';
import { HealthMonitor } from '../../../../node/metrics/health-monitor.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { readRfc3339, type Timestamp, timestampOf } from '../../../../protocol/time.ts';
import { NodeClient } from '../../../fixtures/node-client.ts';
import { openGate, serveApp } from '../../../fixtures/served-app.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { accountOf, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { LEAST, objectsOf } from './governance-bodies.ts';

const network = await TestNetwork.start({ nodes: ['eu'] });
const node = network.node('eu');
const WHOLE: CallerKey = { id: 'key_us_1', scopes: SCOPES, sources: null };
let key = WHOLE;
const monitor = await HealthMonitor.start(node.context);
const served = await serveApp(
  openGate(() => ({ account: { id: accountOf('unmetered'), tier: 'unmetered' }, key })),
  apiRoutes(node.context, monitor),
);
const client = new NodeClient(served.base, 'none');
test.after(async () => {
  await served[Symbol.asyncDispose]();
  await monitor[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
});

/** What is recorded at one time. */
interface Recorded {
  readonly id: string;
  readonly action: string;
  readonly hold: string;
  readonly system: string;
  readonly incident: string;
  readonly session: string;
  readonly first: Timestamp;
  readonly last: Timestamp;
}

const ACTION = { ...LEAST['/v1/corrective-action'], sourceId: 'actions' };
const HOLD = { ...LEAST['/v1/retention-lock'], sourceId: 'holds', legalHold: true };

async function record(name: string): Promise<Recorded> {
  const session = accepted(await client.post('/v1/session/start', LEAST['/v1/session/start']));
  const incident = accepted(await client.post('/v1/incident', LEAST['/v1/incident']));
  const action = accepted(await client.post('/v1/corrective-action', ACTION));
  const hold = accepted(await client.post('/v1/retention-lock', { ...HOLD, lockedBy: 'counsel' }));
  const system = { systemRef: `system-${name}`, role: 'provider', intendedPurpose: 'p' };
  accepted(await client.post('/v1/system', system));
  const decision = accepted(
    await client.post('/v1/attest', { sourceId: 'triage', data: { name }, subjectRef: 'person' }),
  );
  const last = timeOf(decision);
  await until('a later moment', () => node.context.now() > Date.parse(last));
  return {
    id: String(decision.attestationId),
    action: String(action.correctiveActionId),
    hold: String(hold.lockId),
    system: system.systemRef,
    incident: String(incident.incidentId),
    session: String(session.sessionId),
    first: timeOf(session),
    last,
  };
}

function timeOf({ submittedAt }: JsonObject): Timestamp {
  return timestampOf(readRfc3339(String(submittedAt)));
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

function refused({ body, text }: HttpAnswer, code: ProblemCode, what: string): void {
  assert.is(body.code, code, `${what}: ${text}`);
}

const early = await record('early');
const reviewedAt = timeOf(
  accepted(
    await client.post('/v1/human-override', { ...LEAST['/v1/human-override'], originalAttestationId: early.id }),
  ),
);
await until('a later moment', () => node.context.now() > Date.parse(reviewedAt));
const late = await record('late');

const KEYS = [
  { what: 'until the last moment of the early ones', bounds: { to: early.last }, seen: early, unseen: late },
  {
    what: 'from the first moment of the late ones to their last',
    bounds: { from: late.first, to: late.last },
    seen: late,
    unseen: early,
  },
] as const;

test.before.each(() => {
  key = WHOLE;
});

for (const { what, bounds, seen, unseen } of KEYS) {
  const begin = (): void => {
    key = { ...WHOLE, ...bounds };
  };

  test(`a key of the records ${what} is given the bundles of these alone`, async () => {
    begin();
    accepted(await client.get(`/v1/bundles/${seen.id}?partial=1`));
    refused(await client.get(`/v1/bundles/${unseen.id}?partial=1`), 'scope-forbidden', 'a bundle');
  });

  test(`a key of the records ${what} lists these alone`, async () => {
    const idsOf = async (query: string) =>
      objectsOf(accepted(await client.get(`/v1/attestations?${query}`)), 'items').map(
        ({ attestationId }) => attestationId,
      );
    begin();
    const counts = { '': 6, 'from=2020-01-01': 6, 'to=2999-01-01': 6, 'sourceId=triage': 3 };
    for (const [query, count] of Object.entries(counts)) {
      const ids = await idsOf(query);
      assert.equal([ids.length, ids.includes(seen.id), ids.includes(unseen.id)], [count, true, false], query);
    }
    const incidents = objectsOf(accepted(await client.get('/v1/incidents')), 'items');
    assert.equal(
      incidents.map(({ incidentId }) => incidentId),
      [seen.incident],
    );
  });

  test(`a key of the records ${what} is told how these follow each other, and not of how many others`, async () => {
    const path = '/v1/sources/triage/continuity';
    const whole = accepted(await client.get(path));
    begin();
    const own = accepted(await client.get(path));
    assert.equal([own.firstSeq, own.lastSeq], seen === early ? [1, 3] : [5, 7]);
    assert.equal([own.head, own.gaps, own.forks], [own.lastSeq === whole.lastSeq ? whole.head : null, [], []]);
    const outside = accepted(await client.get(`${path}?from=1&to=7`));
    assert.equal(outside.checked, { from: own.firstSeq, to: own.lastSeq });
    assert.equal(
      accepted(await client.get(`${path}?from=${seen === early ? 5 : 1}&to=${seen === early ? 7 : 3}`)).checked,
      null,
    );
    key = { ...WHOLE, from: timestampOf(0), to: timestampOf(1) };
    refused(await client.get(path), 'source-not-found', 'a source without records in the period');
  });

  test(`a key of the records ${what} speaks of no other, and erases no other`, async () => {
    const review = (originalAttestationId: string) =>
      client.post('/v1/human-override', {
        ...LEAST['/v1/human-override'],
        originalAttestationId,
        allowUnresolved: false,
      });
    const within = (sessionId: string) => client.post('/v1/attest', { sourceId: 'other', data: {}, sessionId });
    const correct = (incidentId: string) =>
      client.post('/v1/corrective-action', { ...LEAST['/v1/corrective-action'], incidentId });
    begin();
    accepted(await correct(seen.incident));
    refused(await correct(unseen.incident), 'incident-not-found', 'an action');
    refused(await review(unseen.id), 'attestation-not-found', 'a review');
    refused(await within(unseen.session), 'session-not-found', 'a decision');
    for (const target of [{ attestationIds: [unseen.id] }, { subjectRef: 'person' }]) {
      const erasure = { ...target, legalBasis: 'b', requestedBy: 'r' };
      refused(await client.post('/v1/erasures', erasure), 'scope-forbidden', 'an erasure');
    }
  });

  test(`a key of the records ${what} moves no action, revises no system and releases no hold of another time`, async () => {
    const cancel = (correctiveActionId: string, status: string) =>
      client.post('/v1/corrective-action', { ...ACTION, correctiveActionId, status });
    const revise = (systemRef: string) =>
      client.post('/v1/system', { systemRef, role: 'deployer', intendedPurpose: 'q' });
    const release = (lockId: string) => client.post('/v1/retention-lock/release', { lockId, releasedBy: 'somebody' });
    key = { ...WHOLE, ...bounds, id: 'key_us_2' };
    for (const status of ['cancelled', 'closed']) {
      refused(await cancel(unseen.action, status), 'corrective-action-not-found', `an action, ${status}`);
    }
    refused(await revise(unseen.system), 'scope-forbidden', 'a system');
    refused(await release(unseen.hold), 'lock-not-found', 'a hold');
    accepted(await cancel(seen.action, 'cancelled'));
    accepted(await revise(seen.system));
    accepted(await release(seen.hold));
  });

  test(`a key of the records ${what} is given no sums and no log of all times`, async () => {
    begin();
    refused(await client.get('/v1/reports/gap?framework=EU_AI_ACT'), 'scope-forbidden', 'a report');
    refused(await client.get('/v1/audit-log'), 'scope-forbidden', 'the log');
  });
}

test('a bundle holds no linked record beyond the period of the key', async () => {
  const linkedOf = async () =>
    objectsOf(accepted(await client.get(`/v1/bundles/${early.id}?partial=1&linked=1`)), 'linked').length;
  assert.is(await linkedOf(), 1);
  key = { ...WHOLE, to: early.last };
  assert.is(await linkedOf(), 0);
});

test.run();
