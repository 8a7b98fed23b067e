import Type from 'typebox';
import { recordLeaf, type WholeTexts } from '../../../protocol/chain/record.ts';
import { hashBytes } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { Closed, OrdinalShape, Sha256Shape } from '../../../protocol/shapes.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { splitTexts } from '../../records/record-lines.ts';
import { readTexts, tryOpenRecord } from '../../records/record-reader.ts';
import { bodyTable } from '../../records/record-tables.ts';
import { countOf, sourceIndex } from '../../records/sources/source-index.ts';
import { type HashedRecord, sourceIndexOperations, sourceKey } from '../../records/sources/sources.ts';
import type { Operation } from '../../store/operation.ts';
import { type Rows, StoreError } from '../../store/store.ts';
import { jsonTable, numberCodec, Table } from '../../store/table.ts';
import type { MigrationContext, MigrationStep } from './migration-step.ts';

const HeadShape = Closed({ sourceId: Type.String(), sourceSeq: OrdinalShape, leaf: Sha256Shape });

/** (account, source key) → the last record of the source. */
export const formerHeadTable = jsonTable('source', HeadShape);
/** (account, source key, sourceSeq) → seq of the record. */
export const formerRecordTable = new Table('source-record', numberCodec);

/** Records whose rows are moved in one write, and a body row's more. */
export const RECORDS_A_WRITE = 1_024;
/** Heads that are taken away in one write. */
const HEADS_A_WRITE = 512;
const HASH_BYTES = 32;
/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';

/**
 * A row of each record and a head of each source become rows of the source index. They are derived again from the
 * node's records; of a record that does not read, its former row says where it stands.
 */
export const sourcesStep: MigrationStep = {
  name: 'sources',
  from: 3,
  async run(context) {
    if (context.node === null) return;
    for await (const texts of bodiesOf(context.store, context.node)) await moveRecords(context, texts);
    await moveUnread(context, context.node);
    await dropHeads(context);
  },
};

/** Texts of a node's records in order, so many at a time that always the same stand together. */
async function* bodiesOf(store: Rows, node: NodeId): AsyncGenerator<readonly WholeTexts[]> {
  let texts: WholeTexts[] = [];
  for await (const [, bytes] of rowsUnder(store, bodyTable.key(node))) {
    try {
      texts.push(...splitTexts(bodyTable.decode(bytes)));
    } catch {
      continue;
    }
    if (texts.length < RECORDS_A_WRITE) continue;
    yield texts;
    texts = [];
  }
  if (texts.length > 0) yield texts;
}

async function moveRecords({ store, moved }: MigrationContext, texts: readonly WholeTexts[]): Promise<void> {
  if (await isMoved(store, texts)) return;
  const records = texts.flatMap(hashed);
  const former = records.map(({ record: { account, sourceId, sourceSeq } }) =>
    formerRecordTable.del(account, sourceKey(sourceId), sourceSeq),
  );
  await store.write([...sourceIndexOperations(records), ...former]);
  moved(former.length);
}

/** They were moved together, and the first of them begins a row. */
async function isMoved(store: Rows, texts: readonly WholeTexts[]): Promise<boolean> {
  for (const text of texts) {
    const record = tryOpenRecord(text);
    if (record === undefined) continue;
    const { account, sourceId, sourceSeq } = record;
    return (await store.get(sourceIndex.key(account, sourceKey(sourceId), sourceSeq))) !== undefined;
  }
  return true;
}

function hashed(texts: WholeTexts): HashedRecord[] {
  const record = tryOpenRecord(texts);
  return record === undefined ? [] : [{ record, leaf: recordLeaf(nativeSuite, texts.head) }];
}

/**
 * What is left are rows of records that do not read. Up to the end of its source each becomes a row by itself: the
 * source ends where it did, and its records that are damaged are not missing. One pass: a search for each source would
 * come upon all rows that were deleted.
 */
async function moveUnread({ store, moved }: MigrationContext, node: NodeId): Promise<void> {
  for await (const [key, bytes] of rowsUnder(store, formerRecordTable.name)) {
    const [, account = '', source = '', at] = key.split('/');
    const head = await store.get(formerHeadTable.key(account, source));
    const end = head && tryDecode(formerHeadTable, head);
    const seq = tryDecode(formerRecordTable, bytes) ?? 0;
    const sourceSeq = Number(at);
    if (end === undefined || seq < 1 || !(sourceSeq <= end.sourceSeq)) continue;
    const leaf = sourceSeq === end.sourceSeq ? hashBytes(end.leaf) : await storedLeaf(store, node, seq);
    const row = { runs: [{ first: seq, count: 1 }], leaf };
    await store.write([sourceIndex.put([account, source, sourceSeq], row), { type: 'del', key }]);
    moved(1);
  }
}

/** Takes away the heads of sources that the index has to their end. */
async function dropHeads({ store, moved }: MigrationContext): Promise<void> {
  let superfluous: Operation[] = [];
  const write = async (): Promise<void> => {
    if (superfluous.length === 0) return;
    await store.write(superfluous);
    moved(superfluous.length);
    superfluous = [];
  };
  for await (const [key, bytes] of rowsUnder(store, formerHeadTable.name)) {
    const head = tryDecode(formerHeadTable, bytes);
    if (head === undefined) continue;
    const [, account = '', source = ''] = key.split('/');
    const last = await sourceIndex.last(store, [account, source]);
    if (last !== undefined && Number(last[0]) + countOf(last[1]) > head.sourceSeq) {
      superfluous.push({ type: 'del', key });
    }
    if (superfluous.length >= HEADS_A_WRITE) await write();
  }
  await write();
}

/** Leaf hash of a head as it is stored, whatever it holds; zeros where there is none. */
async function storedLeaf(store: Rows, node: NodeId, seq: number): Promise<Uint8Array> {
  try {
    const texts = await readTexts(store, node, seq);
    if (texts !== undefined) return recordLeaf(nativeSuite, texts.head);
  } catch (error) {
    if (error instanceof StoreError) throw error;
  }
  return new Uint8Array(HASH_BYTES);
}

/** Undefined where the bytes do not read. */
function tryDecode<Value>(table: Table<Value>, bytes: Uint8Array): Value | undefined {
  try {
    return table.decode(bytes);
  } catch {
    return undefined;
  }
}

function rowsUnder(store: Rows, key: string): AsyncGenerator<[key: string, value: Uint8Array]> {
  return store.range({ gte: `${key}/`, lt: key + AFTER_SLASH });
}
