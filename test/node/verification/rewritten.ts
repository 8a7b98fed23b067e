import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { bodyTable } from '../../../node/records/record-tables.ts';
import { type AttestationRecord, writeRecord } from '../../../protocol/chain/record.ts';
import type { TestNode } from '../../fixtures/test-node.ts';

/** Does the work while the node's store holds another text of one half of the record. */
export async function rewritten(
  { context: { store } }: TestNode,
  record: AttestationRecord,
  half: 'head' | 'body',
  from: string,
  to: string,
  work: () => Promise<void>,
): Promise<void> {
  const row = await bodyTable.last(store, [record.node], record.seq);
  if (row === undefined) throw new Error('no body');
  const text = writeRecord(nativeSuite, record)[half];
  const [first, body] = row;
  assert.ok(body.includes(text) && text.includes(from));
  const parts = [record.node, Number(first)] as const;
  await store.write([bodyTable.put([...parts], body.replace(text, text.replace(from, to)))]);
  await work();
  await store.write([bodyTable.put([...parts], body)]);
}
