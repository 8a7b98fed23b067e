import Type, { type Static } from 'typebox';
import type { WholeTexts } from '../../protocol/chain/record.ts';
import { recordLeaf } from '../../protocol/chain/record.ts';
import { hashBytes } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Compile } from '../../protocol/shape-check.ts';
import { Closed, OrdinalShape, Sha256Shape } from '../../protocol/shapes.ts';
import { type HashedRecord, sourceIndexOperations, sourceKey } from '../intake/sources.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { splitTexts } from '../records/record-lines.ts';
import { tryOpenRecord } from '../records/record-reader.ts';
import { bodyTable } from '../records/record-tables.ts';
import { countOf, sourceIndex } from '../sources/source-index.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows } from '../store/store.ts';
import { jsonCodec, numberCodec, Table } from '../store/table.ts';
import type { MigrationContext, MigrationStep } from './migration-step.ts';

const HeadShape = Closed({ sourceId: Type.String(), sourceSeq: OrdinalShape, leaf: Sha256Shape });
type Head = Static<typeof HeadShape>;
const head = Compile(HeadShape);

/** (account, source key) → the last record of the source. */
export const formerHeadTable = new Table(
  'source',
  jsonCodec((value: unknown): value is Head => head.Check(value)),
);
/** (account, source key, sourceSeq) → seq of the record. */
export const formerRecordTable = new Table('source-record', numberCodec);

/** Records whose rows are moved in one write, and a body row's more. */
export const RECORDS_A_WRITE = 1_024;
/** Heads that are taken away in one write. */
const HEADS_A_WRITE = 512;
/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';

/**
 * A row of each record and a head of each source become rows of the source index. They are derived anew from the node's
 * records; where the last record of a source does not read, its former rows say where the source ends.
 */
export const sourcesStep: MigrationStep = {
  name: 'sources',
  async run(context) {
    if (context.node === null) return;
    for await (const texts of bodiesOf(context.store, context.node)) await moveRecords(context, texts);
    await moveHeads(context);
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

async function moveHeads({ store, moved }: MigrationContext): Promise<void> {
  let operations: Operation[] = [];
  const write = async (): Promise<void> => {
    if (operations.length === 0) return;
    await store.write(operations);
    moved(operations.filter(({ type }) => type === 'del').length);
    operations = [];
  };
  for await (const [key, bytes] of rowsUnder(store, formerHeadTable.name)) {
    operations.push(...(await headOperations(store, key, bytes)));
    if (operations.length >= HEADS_A_WRITE) await write();
  }
  await write();
}

/** What takes a head's place; nothing where it cannot be told. */
async function headOperations(store: Rows, key: string, bytes: Uint8Array): Promise<Operation[]> {
  const [, account = '', source = ''] = key.split('/');
  const former = tryDecode(formerHeadTable, bytes);
  if (former === undefined) return [];
  const { sourceSeq, leaf } = former;
  const last = await sourceIndex.last(store, [account, source]);
  if (last !== undefined && Number(last[0]) + countOf(last[1]) > sourceSeq) return [{ type: 'del', key }];
  const row = await store.get(formerRecordTable.key(account, source, sourceSeq));
  const seq = row && tryDecode(formerRecordTable, row);
  if (seq === undefined) return [];
  return [
    sourceIndex.put([account, source, sourceSeq], { runs: [{ first: seq, count: 1 }], leaf: hashBytes(leaf) }),
    formerRecordTable.del(account, source, sourceSeq),
    { type: 'del', key },
  ];
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
