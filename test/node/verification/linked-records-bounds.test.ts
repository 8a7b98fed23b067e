import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { linkOperations } from '../../../node/records/link-tables.ts';
import { findLinked } from '../../../node/verification/linked-records.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import { recordOf } from '../compliance/records.ts';

/** Records of any account that link to one in the same way that are looked at. */
const LOOKED_AT = 256;

for (const [kind, linksTo] of [
  ['incident', (id: AttestationRecord['id']) => ({ related: [id] })],
  ['human_override', (id: AttestationRecord['id']) => ({ original: id })],
] as const) {
  test(`that more records link to one than are looked at is said, though none of them counts: ${kind}`, async () => {
    const store = new MemoryRows();
    const subject = recordOf({});
    const read = async () => undefined;
    for (let made = 0; made < LOOKED_AT; made++) {
      await store.write(linkOperations(recordOf({ kind, links: linksTo(subject.id), account: 'another' })));
    }
    assert.equal(await findLinked({ store, read }, subject), { evidence: [], incidents: [], truncated: false });
    await store.write(linkOperations(recordOf({ kind, links: linksTo(subject.id), account: 'another' })));
    assert.is((await findLinked({ store, read }, subject)).truncated, true);
  });
}

test.run();
