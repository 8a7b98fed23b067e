import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FactsMaker, hasFurtherRows } from '../../../node/fsck/record-facts.ts';
import { COMMON_PROJECTIONS } from '../../../node/records/record-tables.ts';
import { sourceName } from '../../../node/records/chain-tables.ts';
import { OWN_PROJECTIONS } from '../../../node/services/projections.ts';
import { facetText } from '../../../protocol/frameworks/facet.ts';
import { recordId } from '../../../protocol/ids.ts';
import { recordOf } from '../governance/records.ts';

const DECISION = recordOf({ kind: 'decision' });

test('records share facts where all of them are the same, and no others', () => {
  const facts = new FactsMaker();
  const { shared } = facts.factsOf(DECISION);
  assert.is(facts.factsOf({ ...DECISION, seq: DECISION.seq + 1 }).shared, shared);
  const others = [
    { ...DECISION, account: `${DECISION.account}x` },
    { ...DECISION, sourceId: `${DECISION.sourceId}\n` },
    { ...DECISION, account: 'a/b', sourceId: 'c' },
    { ...DECISION, account: 'a', sourceId: 'b/c' },
    recordOf({ kind: 'decision', claims: { channel: 'direct', eventType: 'OVERRIDE' } }),
    recordOf({ kind: 'account' }),
  ];
  const made = others.map((record) => facts.factsOf(record).shared);
  assert.is(new Set([shared, ...made]).size, others.length + 1);
  others.forEach((record, i) => {
    assert.is(made[i]?.account, record.account);
    assert.is(made[i]?.sourceId, record.sourceId);
    assert.is(made[i]?.source, sourceName(record));
    assert.is(made[i]?.facet, facetText(record));
  });
  assert.is(made.at(-1)?.isUse, false);
  assert.is(shared.isUse, true);
});

test('an own record that a projection has rows of has further rows, and so has one that names an agent or is about one', () => {
  const projections = [...COMMON_PROJECTIONS, ...OWN_PROJECTIONS];
  const related = [recordId(DECISION.id)];
  const telling = [
    recordOf({ kind: 'retention_lock', claims: { channel: 'direct', retentionDays: 400, scope: ['decisions'] } }),
    recordOf({ kind: 'decision', claims: { channel: 'direct', agentId: 'did:web:agent.example' } }),
    recordOf({ kind: 'incident', links: { related } }),
    recordOf({ kind: 'human_override', links: { original: DECISION.id } }),
  ];
  for (const record of telling) assert.is(hasFurtherRows(record, true), true, record.kind);
  assert.is(hasFurtherRows(DECISION, true), false);
  assert.is(
    projections.some(({ rowsOf }) => rowsOf(DECISION).length > 0),
    false,
  );
});

test('of a record of another node, only projections that all records have say whether it has further rows', () => {
  const incident = recordOf({ kind: 'incident' });
  assert.is(hasFurtherRows(incident, true), true);
  assert.is(hasFurtherRows(incident, false), false);
  assert.is(hasFurtherRows(recordOf({ kind: 'human_override', links: { original: DECISION.id } }), false), true);
});

test.run();
