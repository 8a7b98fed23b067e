import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DueCalendar } from '../../../../node/alerts/calendar/due-calendar.ts';
import { placeAt } from '../../../../node/alerts/incident-place.ts';
import type { DueReviews } from '../../../../node/governance/due-reviews.ts';
import type { Incidents } from '../../../../node/governance/incidents.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';

const SHA = `sha256:${'a'.repeat(64)}`;
const DAY_MS = 86_400_000;
const KEY = API_KEYS.enterprise;
/** Pages of 200 incidents that are all of other sources. */
const PAGES_BEFORE = 20;
const REVIEWS_BEFORE = 3_000;

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

async function recorded(path: string, body: JsonObject): Promise<string> {
  const answer = await node.post(path, body, { key: KEY });
  assert.is(answer.status, 200, answer.text);
  return String(answer.body.incidentId ?? answer.body.attestationId);
}

test('a key of one source sees what is due of it, however much of other sources is due before', async () => {
  const incident = await recorded('/v1/incident', {
    sourceId: 'own',
    severity: 'serious',
    description: 'what happened',
    incidentPeriodStart: '2026-01-01',
  });
  const documented = (sourceId: string, reviewDueAt: string): Promise<string> =>
    recorded('/v1/document', { sourceId, docType: 'none', docVersion: '1', sha256: SHA, reviewDueAt });
  await documented('other', '2031-05-01');
  const review = await documented('own', '2031-05-02');
  const terms = { preset: 'auditor', sources: ['own'], expiresAt: new Date(Date.now() + DAY_MS).toISOString() };
  const { body } = await node.post('/v1/keys', terms, { key: KEY });
  const found = await node.context.accounts.authenticate(String(body.apiKey));
  if (typeof found === 'string') throw new Error(found);
  const { governance, accounts, store } = node.context;
  let pages = 0;
  const incidents: Pick<Incidents, 'page'> = {
    page: async (of, query) =>
      pages++ < PAGES_BEFORE
        ? { incidents: [], next: placeAt(Date.now() + pages) }
        : governance.incidents.page(of, { ...query, after: undefined }),
  };
  const dueReviews: Pick<DueReviews, 'between'> = {
    async *between(of, period) {
      let looked = 0;
      for await (const one of governance.dueReviews.between(of, period)) {
        const times = one.record.sourceId === 'own' ? 1 : REVIEWS_BEFORE;
        for (let n = 0; n < times && looked++ < period.limit; n++) yield one;
      }
    },
  };
  const calendar = new DueCalendar({
    store,
    node: nodeId('eu'),
    incidents,
    dueReviews,
    keys: accounts.keys,
    locks: governance.locks,
    now: Date.now,
  });
  const text = await calendar.textFor(found.caller);
  assert.match(text, `UID:${incident}`);
  assert.match(text, `UID:${review}-review`);
});

test('however many incidents are past, those to come stand in it', async () => {
  const { governance, accounts, store } = node.context;
  const found = await accounts.authenticate(KEY);
  if (typeof found === 'string') throw new Error(found);
  const coming = await recorded('/v1/incident', {
    sourceId: 'coming',
    severity: 'serious',
    description: 'what is to come',
    incidentPeriodStart: '2026-01-01',
  });
  const now = Date.now();
  const incidents: Pick<Incidents, 'page'> = {
    async page(of, query) {
      const after = query.after ?? '';
      if (after >= placeAt(now)) return governance.incidents.page(of, query);
      const { incidents: real } = await governance.incidents.page(of, { ...query, after: undefined });
      const [one] = real;
      if (one === undefined) throw new Error('there is an incident');
      const claims = { ...one.record.claims, notificationDueAt: timestampOf(now - DAY_MS) };
      const past = { ...one, record: { ...one.record, claims } };
      return { incidents: Array.from({ length: query.limit }, () => past), next: after };
    },
  };
  const calendar = new DueCalendar({
    store,
    node: nodeId('eu'),
    incidents,
    dueReviews: governance.dueReviews,
    keys: accounts.keys,
    locks: governance.locks,
    now: () => now,
  });
  assert.match(await calendar.textFor(found.caller), `UID:${coming}`);
});

test.run();
