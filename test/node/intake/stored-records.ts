import * as assert from 'uvu/assert';
import { sourceKey } from '../../../node/records/sources/sources.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { readPayload } from '../../../node/records/payload/payload-tables.ts';
import { groupTable, recordIndex } from '../../../node/records/record-tables.ts';
import { readRecord, readRecordTexts } from '../../../node/records/record-reader.ts';
import { countOf, seqAt, sourceIndex } from '../../../node/records/sources/source-index.ts';
import type { Store } from '../../../node/store/store.ts';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { merkleRoot } from '../../../protocol/merkle/tree.ts';
import { commitText } from '../../../protocol/payload/commitment.ts';
import { type Group, groupStatement } from '../../../protocol/statement/group.ts';
import { type AttestationRecord, openRecord, recordLeaf, type WholeTexts } from '../../../protocol/chain/record.ts';
import { signatureHolds } from '../../../protocol/statement/statement.ts';
import { NODE, signer, cipher } from './intake-fixture.ts';

/**
 * Every record that the store holds, in order. Fails unless groups, seq and source chains are gapless, every receipt
 * holds, and every index row and payload belongs to its record, with none left over.
 */
export async function requireWholeStore(store: Store): Promise<AttestationRecord[]> {
  const records: AttestationRecord[] = [];
  const heads = new Map<string, AttestationRecord & { readonly leaf: string }>();
  let before = '';
  for await (const [, signed] of groupTable.under(store, [NODE])) {
    const group = groupStatement.parse(signed.statement);
    assert.is(group.first, records.length + 1, 'groups follow one another');
    assert.ok(signatureHolds(nativeSuite, groupStatement, signed, signer.publicKey));
    assert.ok(group.signedAt >= before, 'time never goes back');
    before = group.signedAt;
    for (const texts of await requireGroup(store, group)) {
      const record = openRecord(nativeSuite, texts);
      const head = heads.get(`${record.account}/${record.sourceId}`);
      assert.is(record.seq, records.length + 1);
      assert.is(record.sourceSeq, (head?.sourceSeq ?? 0) + 1);
      assert.is(record.sourcePrev, head?.leaf ?? null);
      const leaf = writeSha256(recordLeaf(nativeSuite, texts.head));
      heads.set(`${record.account}/${record.sourceId}`, { ...record, leaf });
      await requireRows(store, record, leaf);
      records.push(record);
    }
  }
  await requireNothingElse(store, records);
  return records;
}

async function requireGroup(store: Store, group: Group): Promise<WholeTexts[]> {
  const texts = await Array.fromAsync(readRecordTexts(store, NODE, group.first, group.size));
  assert.is(texts.length, group.size);
  const leaves = texts.map(({ head }) => recordLeaf(nativeSuite, head));
  assert.is(writeSha256(merkleRoot(nativeSuite, leaves)), group.root);
  return texts;
}

async function requireRows(store: Store, record: AttestationRecord, leaf: Sha256Hash): Promise<void> {
  const { id, account, sourceId, sourceSeq, seq, payloadHash } = record;
  assert.equal((await readRecord(store, id))?.record, record);
  const [first = '', row] = (await sourceIndex.last(store, [account, sourceKey(sourceId)], sourceSeq)) ?? [];
  assert.is(row && seqAt(row, sourceSeq - Number(first)), seq);
  if (row !== undefined && sourceSeq === Number(first) + countOf(row) - 1) assert.is(writeSha256(row.leaf), leaf);
  const payload = await readPayload(store, cipher, id, seq);
  if (payload === 'erased') throw new Error(`${id} has no payload`);
  assert.is(commitText(nativeSuite, 'meridian/payload/1', payload.salt, payload.text), payloadHash);
}

async function requireNothingElse(store: Store, records: readonly AttestationRecord[]): Promise<void> {
  assert.is((await Array.fromAsync(recordIndex.under(store, []))).length, records.length);
  const rows = await Array.fromAsync(sourceIndex.under(store, []), ([, row]) => countOf(row));
  assert.is(
    rows.reduce((sum, count) => sum + count, 0),
    records.length,
  );
}
