import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { linkedOperations, linkOperations } from '../../../node/records/link-tables.ts';
import { findLinked } from '../../../node/verification/linked-records.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import { recordOf } from '../governance/records.ts';

/** The rows that its node writes of a record’s links. */
const linking = (record: AttestationRecord) => [...linkOperations(record), ...linkedOperations(record)];

/** Records of any account that link to one in the same way that are looked at. */
const LOOKED_AT = 256;
/** Incidents that count. */
const COUNTED = 32;
/** Of other nodes than the account's home. */
const COUNTED_ELSEWHERE = 16;

for (const [kind, linksTo] of [
  ['incident', (id: AttestationRecord['id']) => ({ related: [id] })],
  ['human_override', (id: AttestationRecord['id']) => ({ original: id })],
] as const) {
  test(`that more records link to one than are looked at is said, though none of them counts: ${kind}`, async () => {
    const store = new MemoryRows();
    const subject = recordOf({});
    const read = async () => undefined;
    for (let made = 0; made < LOOKED_AT; made++) {
      await store.write(linking(recordOf({ kind, links: linksTo(subject.id), account: 'another' })));
    }
    assert.equal(await findLinked({ store, read }, subject), { evidence: [], incidents: [], truncated: false });
    await store.write(linking(recordOf({ kind, links: linksTo(subject.id), account: 'another' })));
    assert.is((await findLinked({ store, read }, subject)).truncated, true);
  });
}

test('of the records that count so many are shown, and that there are more is said', async () => {
  const store = new MemoryRows();
  const subject = recordOf({});
  const made = new Map<AttestationRecord['id'], AttestationRecord>();
  const read = async (id: AttestationRecord['id']) => {
    const record = made.get(id);
    return record && { record };
  };
  for (const isMore of [false, true]) {
    for (let i = 0; i < (isMore ? 1 : COUNTED); i++) {
      const record = recordOf({ kind: 'incident', links: { related: [subject.id] } });
      made.set(record.id, record);
      await store.write(linking(record));
    }
    const { incidents, truncated } = await findLinked({ store, read }, subject);
    assert.equal([incidents.length, truncated], [COUNTED, isMore]);
  }
});

test('of other nodes’ records fewer are shown, each node’s in its turn, and that there are more is said', async () => {
  const store = new MemoryRows();
  const account = 'acc_eu_demo';
  const subject = recordOf({ account });
  const made = new Map<AttestationRecord['id'], AttestationRecord>();
  const read = async (id: AttestationRecord['id']) => {
    const record = made.get(id);
    return record && { record };
  };
  const add = async (node: string) => {
    const record = recordOf({ kind: 'incident', account, node: nodeId(node), links: { related: [subject.id] } });
    made.set(record.id, record);
    await store.write(linking(record));
  };
  for (let i = 0; i < COUNTED_ELSEWHERE; i++) await add('us');
  assert.is((await findLinked({ store, read }, subject)).truncated, false);
  await add('sg');
  const { incidents, truncated } = await findLinked({ store, read }, subject);
  assert.equal([incidents.length, truncated], [COUNTED_ELSEWHERE, true]);
  assert.is(
    incidents.filter(({ record }) => record.node === 'sg').length,
    1,
    'what one makes hides nothing of another',
  );
});

test('the start of a session is not linked to itself', async () => {
  const store = new MemoryRows();
  const start = recordOf({ kind: 'session_start' });
  const end = recordOf({ kind: 'session_end', links: { session: start.id } });
  await store.write(linking(end));
  const read = async (id: AttestationRecord['id']) => ({ record: id === end.id ? end : start });
  const { evidence } = await findLinked({ store, read }, start);
  assert.equal(
    evidence.map(({ record }) => record.kind),
    ['session_end'],
  );
});

test.run();
