import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { isNodeId, isRecordId, type NodeId, nodeOfRecord } from '../../protocol/ids.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { inOrder } from '../concurrency/in-order.ts';
import { paymentDraftTable } from '../payments/payment-tables.ts';
import { preparedRow } from '../payments/prepared-rows.ts';
import { payloadKeyTable, preparedKeyTable } from '../records/payload/payload-keys.ts';
import { payloadTable } from '../records/payload/payload-tables.ts';
import { bodyTable, COMMON_PROJECTIONS, groupTable, recordIndex } from '../records/record-tables.ts';
import { type Projection, projectionVersionTable } from '../records/projection.ts';
import { awaitedProjections } from './migration/projections.ts';
import { OWN_PROJECTIONS } from '../services/projections.ts';
import { AGENT_TALLY_TABLES, AgentTallyWalk } from './agent-tally-walk.ts';
import { BATCH_TABLES, BatchWalk } from './batch-walk.ts';
import type { Check } from './check.ts';
import { DERIVED_TABLES, type DerivedRecord, DerivedWalk } from './derived-walk.ts';
import { type CheckedGroup, type CheckedRecord, LEAF_BYTES } from './group-check.ts';
import type { GroupChecks } from './group-checks.ts';
import { GroupReader, type ReadRange } from './group-reader.ts';
import { IndexWalk } from './index-walk.ts';
import type { ProvenRanges } from './proven-ranges.ts';
import { recordAt, recordOfId } from './record-at.ts';
import type { RecordFacts } from './record-facts.ts';
import type { PartReport } from './report.ts';
import { RowCursor } from './row-cursor.ts';
import { countRows, distinctParts, readRows } from './rows.ts';
import { SOURCE_TABLES, SourceWalk } from './source-walk.ts';
import { TALLY_TABLES, TallyWalk } from './tally-walk.ts';
import { TIME_STEP_TABLES, TimeStepWalk } from './time-step-walk.ts';
import { USAGE_TABLES, UsageWalk } from './usage-walk.ts';

const PAYLOAD_TABLES = [payloadTable, payloadKeyTable, preparedKeyTable];

/** Keys of payloads that no record of this node has: of other nodes, and of records that are prepared. */
async function checkPayloadKeys(check: Check, own: NodeId): Promise<void> {
  await findForeign(check, own);
  if ((await countRows(check, preparedKeyTable)) === 0) return;
  const prepared = await preparedIds(check);
  for await (const { key, parts } of readRows(check, preparedKeyTable)) {
    if (prepared.has(parts.join('/'))) continue;
    check.report.problem(preparedKeyTable.name, key, 'belongs to no record that is prepared');
  }
}

/** Only this node's records have keys here. */
async function findForeign({ store, report }: Check, own: NodeId): Promise<void> {
  for await (const node of distinctParts(store, payloadKeyTable.name)) {
    if (node !== own) report.problem(payloadKeyTable.name, `${payloadKeyTable.name}/${node}`, 'is of another node');
  }
}

/** Ids of records that are prepared for payments, and not made yet. */
async function preparedIds(check: Check): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { value } of readRows(check, paymentDraftTable)) {
    // A row that does not read is reported with the payments.
    if (value !== undefined) ids.add(idOf(value));
  }
  return ids;
}

function idOf(bytes: Uint8Array): string {
  try {
    return preparedRow(bytes).id;
  } catch {
    return '';
  }
}

/** One projection against the records that it follows from: no row is missing, other, or left over. */
class ProjectionWalk {
  readonly #check: Check;
  readonly #projection: Projection;
  readonly #index: IndexWalk<string>;

  constructor(check: Check, projection: Projection) {
    this.#check = check;
    this.#projection = projection;
    this.#index = new IndexWalk(check, projection.table);
  }

  async take(records: readonly AttestationRecord[]): Promise<void> {
    const rows = records.flatMap((record) =>
      this.#projection.rowsOf(record).map(({ key }) => ({ key, value: record.id })),
    );
    if (rows.length > 0) await this.#index.expect(rows);
  }

  /** After the last record. */
  async finish(): Promise<void> {
    await this.#index.finish(async ({ key, value }) => {
      const record = value === undefined ? undefined : await recordOfId(this.#check.store, value);
      return record !== undefined && this.#projection.rowsOf(record).some((row) => row.key === key);
    });
  }
}

/** How groups are judged: where, and which of them were before. */
export interface Judging {
  readonly groupChecks: GroupChecks;
  /** Null: it is not remembered. */
  readonly proven: ProvenRanges | null;
}

/** Rows that follow from records, compared with them along the chain. */
interface RecordWalk<Taken> {
  take(records: readonly Taken[]): Promise<void>;
  finish(): Promise<void>;
}

/** The walks along a chain beside those that every chain has. */
interface ChainWalks {
  /** These take every record. */
  readonly counts: readonly RecordWalk<RecordFacts>[];
  /** These take those that have rows which not every record has. */
  readonly further: readonly RecordWalk<AttestationRecord>[];
}

export const CHAIN_TABLES = [
  groupTable,
  bodyTable,
  recordIndex,
  ...COMMON_PROJECTIONS.map(({ table }) => table),
  ...BATCH_TABLES,
  ...SOURCE_TABLES,
  ...DERIVED_TABLES,
  ...PAYLOAD_TABLES,
  ...OWN_PROJECTIONS.map(({ table }) => table),
  projectionVersionTable,
  ...USAGE_TABLES,
  ...TALLY_TABLES,
  ...TIME_STEP_TABLES,
  ...AGENT_TALLY_TABLES,
];

/**
 * Every node's chain: groups without gap from record 1 on, signed; every record re-derived, its index row looked up;
 * batches over them. One walk in order of seq with all tables side by side, in the memory of one batch and of the
 * ranges of groups that are checked ahead of it.
 */
export async function checkChains(check: Check, judging: Judging): Promise<void> {
  const index = new IndexWalk(check, recordIndex);
  for await (const _ of readRows(check, projectionVersionTable));
  // Rows that the node's next start makes are not missed before it.
  const awaited = await awaitedProjections(check.store, check.own);
  const walksOf = (projections: readonly Projection[]): ProjectionWalk[] =>
    projections
      .filter(({ table }) => !awaited.has(table.name))
      .map((projection) => new ProjectionWalk(check, projection));
  const common = walksOf(COMMON_PROJECTIONS);
  const own = [...walksOf(OWN_PROJECTIONS), new AgentTallyWalk(check)];
  const counts = [new UsageWalk(check), new TallyWalk(check), new TimeStepWalk(check)];
  const nodes = await nodesOf(check);
  for (const node of nodes) check.report.expect(await recordsOf(check, node));
  for (const node of nodes) {
    const walks = node === check.own ? { counts, further: [...common, ...own] } : { counts: [], further: common };
    await new ChainWalk(check, judging, node, index, walks).run();
  }
  if (check.own === null) await findOwnerless(check);
  for (const walk of [...common, ...own, ...counts]) await walk.finish();
  await index.finish(async ({ parts, value }) => {
    const id = parts.join('/');
    if (!isRecordId(id) || value === undefined) return false;
    return (await recordAt(check.store, nodeOfRecord(id), value))?.id === id;
  });
}

/** The node itself, and those that any row of a chain names. */
async function nodesOf({ store, report, own }: Check): Promise<readonly NodeId[]> {
  const nodes = new Set<NodeId>(own === null ? [] : [own]);
  for (const { name } of [groupTable, bodyTable, ...BATCH_TABLES, ...DERIVED_TABLES]) {
    for await (const part of distinctParts(store, name)) {
      if (isNodeId(part)) nodes.add(part);
      else report.problem(name, `${name}/${part}`, 'names no node');
    }
  }
  return [...nodes].sort();
}

/** Records that a node's last group says there are. */
async function recordsOf({ store }: Check, node: NodeId): Promise<number> {
  try {
    const [, signed] = (await groupTable.last(store, [node])) ?? [];
    if (signed === undefined) return 0;
    const { first, size } = groupStatement.parse(signed.statement);
    return first + size - 1;
  } catch {
    return 0;
  }
}

/** Rows that only a node's own records have, in a store that is no node's. */
async function findOwnerless(check: Check): Promise<void> {
  for (const table of SOURCE_TABLES) await new RowCursor<unknown>(check, table).finish();
  for (const table of PAYLOAD_TABLES) await new RowCursor<unknown>(check, table).finish();
}

/** A record of a group with its leaf. */
function derivedOf({ first }: Group, record: CheckedRecord, leaves: readonly Uint8Array[]): DerivedRecord | undefined {
  const leaf = leaves[record.seq - first];
  return leaf && { record, leaf };
}

class ChainWalk {
  readonly #check: Check;
  readonly #judging: Judging;
  readonly #node: NodeId;
  readonly #index: IndexWalk<number>;
  readonly #walks: ChainWalks;
  readonly #sources: SourceWalk;

  constructor(check: Check, judging: Judging, node: NodeId, index: IndexWalk<number>, walks: ChainWalks) {
    this.#walks = walks;
    this.#check = check;
    this.#judging = judging;
    this.#node = node;
    this.#index = index;
    this.#sources = new SourceWalk(check, node);
  }

  async run(): Promise<void> {
    const { report, own } = this.#check;
    const batches = await BatchWalk.open(this.#check, this.#node);
    const derived = await DerivedWalk.open(this.#check, this.#node);
    const { groupChecks, proven } = this.#judging;
    const reader = new GroupReader(
      this.#check,
      this.#node,
      (first, next) => proven?.has(this.#node, first, next) ?? false,
    );
    const check = async (read: ReadRange) => ({ read, checked: await groupChecks.check(read) });
    for await (const { read, checked } of inOrder(reader.ranges(), check, groupChecks.ahead)) {
      report.add(read.report);
      report.add(checked.report);
      if (isClean(read.report) && isClean(checked.report)) await proven?.add(this.#node, read.first, read.next);
      for (const [i, { group }] of read.groups.entries()) {
        const leaves = await this.#take(group, checked.groups[i], derived);
        await batches.add(group, leaves);
      }
      report.progress();
    }
    await batches.finish();
    await derived.finish();
    if (this.#node !== own) return;
    await checkPayloadKeys(this.#check, this.#node);
    await this.#sources.finish();
  }

  /** Takes the records of a group. Resolves to their leaves; to null where they are not all here. */
  async #take(
    group: Group,
    checked: CheckedGroup | undefined,
    derived: DerivedWalk,
  ): Promise<readonly Uint8Array[] | null> {
    if (checked === undefined || checked.leaves === null) return null;
    const { records, further } = checked;
    const leaves = leavesOf(checked.leaves);
    const placed = records.flatMap((record) => derivedOf(group, record, leaves) ?? []);
    derived.take(placed);
    // Side by side: each mostly waits for LevelDB.
    await Promise.all([
      this.#index.expect(records.map(({ id, seq }) => ({ key: recordIndex.key(id), value: seq }))),
      this.#sources.take(placed),
      ...this.#walks.counts.map((walk) => walk.take(records)),
      ...this.#walks.further.map((walk) => walk.take(further)),
    ]);
    return leaves;
  }
}

function isClean({ found }: PartReport): boolean {
  return found.problem + found.warning + found.note === 0;
}

function leavesOf(packed: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: packed.length / LEAF_BYTES }, (_, i) =>
    packed.subarray(i * LEAF_BYTES, (i + 1) * LEAF_BYTES),
  );
}
