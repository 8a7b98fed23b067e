import { isNodeId, isRecordId, type NodeId, nodeOfRecord } from '../../protocol/ids.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { AttestationRecord, WholeTexts } from '../../protocol/chain/record.ts';
import { OWN_PROJECTIONS } from '../compliance/projections.ts';
import { linkProjection } from '../records/link-tables.ts';
import { splitTexts } from '../records/record-lines.ts';
import { bodyTable, groupTable, recordIndex } from '../records/record-tables.ts';
import { AGENT_TALLY_TABLES, AgentTallyWalk } from './agent-tally-walk.ts';
import { BATCH_TABLES, BatchWalk } from './batch-walk.ts';
import { type Check, checkSigned, type TableCheck } from './check.ts';
import { DERIVED_TABLES, DerivedWalk } from './derived-walk.ts';
import { deriveGroup } from './group-records.ts';
import { IndexWalk } from './index-walk.ts';
import { PAYLOAD_TABLES, PayloadWalk } from './payload-walk.ts';
import { ProjectionWalk } from './projection-walk.ts';
import { recordAt } from './record-at.ts';
import { RowCursor } from './row-cursor.ts';
import { RowRuns } from './row-runs.ts';
import { distinctParts } from './rows.ts';
import { SOURCE_TABLES, SourceWalk } from './source-walk.ts';
import { TALLY_TABLES, TallyWalk } from './tally-walk.ts';
import { USAGE_TABLES, UsageWalk } from './usage-walk.ts';

/** Rows that follow from records, compared with them along the chain. */
interface RecordWalk {
  take(records: readonly AttestationRecord[]): Promise<void>;
  finish(): Promise<void>;
}

/**
 * Every node's chain: groups without gap from record 1 on, signed; every record re-derived, its index row looked up;
 * batches over them. One walk in order of seq with all tables side by side, in the memory of one batch.
 */
export const chainCheck: TableCheck = {
  tables: [
    groupTable,
    bodyTable,
    recordIndex,
    linkProjection.table,
    ...BATCH_TABLES,
    ...SOURCE_TABLES,
    ...DERIVED_TABLES,
    ...PAYLOAD_TABLES,
    ...OWN_PROJECTIONS.map(({ table }) => table),
    ...USAGE_TABLES,
    ...TALLY_TABLES,
    ...AGENT_TALLY_TABLES,
  ],
  async run(check) {
    const index = new IndexWalk(check, recordIndex);
    const links = new ProjectionWalk(check, linkProjection);
    const own: RecordWalk[] = [
      ...OWN_PROJECTIONS.map((projection) => new ProjectionWalk(check, projection)),
      new UsageWalk(check),
      new TallyWalk(check),
      new AgentTallyWalk(check),
    ];
    for (const node of await nodesOf(check)) {
      const walks = node === check.own ? [links, ...own] : [links];
      await new ChainWalk(check, node, index, walks).run();
    }
    if (check.own === null) await findOwnerless(check);
    for (const walk of [links, ...own]) await walk.finish();
    await index.finish(async ({ parts, value }) => {
      const id = parts.join('/');
      if (!isRecordId(id) || value === undefined) return false;
      return (await recordAt(check.store, nodeOfRecord(id), value))?.id === id;
    });
  },
};

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

/** Rows that only a node's own records have, in a store that is no node's. */
async function findOwnerless(check: Check): Promise<void> {
  for (const table of SOURCE_TABLES) await new RowCursor<unknown>(check, table).finish();
  for (const table of PAYLOAD_TABLES) await new RowCursor<unknown>(check, table).finish();
}

class ChainWalk {
  readonly #check: Check;
  readonly #node: NodeId;
  readonly #index: IndexWalk<number>;
  readonly #groups: RowCursor<SignedStatement>;
  readonly #walks: readonly RecordWalk[];
  readonly #bodies: RowRuns<string, WholeTexts>;
  readonly #sources: SourceWalk;
  /** Null for a peer's chain. */
  readonly #payloads: PayloadWalk | null;
  #next = 1;

  constructor(check: Check, node: NodeId, index: IndexWalk<number>, walks: readonly RecordWalk[]) {
    this.#walks = walks;
    this.#check = check;
    this.#node = node;
    this.#index = index;
    this.#groups = new RowCursor(check, groupTable, node);
    this.#bodies = new RowRuns(check, bodyTable, [node], splitTexts);
    this.#sources = new SourceWalk(check, node);
    this.#payloads = node === check.own ? new PayloadWalk(check, node) : null;
  }

  async run(): Promise<void> {
    const batches = await BatchWalk.open(this.#check, this.#node);
    const derived = await DerivedWalk.open(this.#check, this.#node);
    for (let row = await this.#groups.next(); row !== undefined; row = await this.#groups.next()) {
      const group = row.value && this.#open(row.key, row.value);
      if (group === undefined) continue;
      this.#next = group.first + group.size;
      await batches.add(group, await this.#derive(row.key, group, derived));
      this.#check.report.progress();
    }
    await batches.finish();
    await this.#bodies.finish();
    await derived.finish();
    await this.#payloads?.finish();
    if (this.#payloads !== null) await this.#sources.finish();
  }

  /** The group of a row, if it is one and does not overlap the group before. */
  #open(key: string, signed: SignedStatement): Group | undefined {
    const { report } = this.#check;
    const group = checkSigned(this.#check, groupTable, key, groupStatement, signed, (value) => value);
    if (group === undefined) return undefined;
    if (group.node !== this.#node || key !== groupTable.key(this.#node, group.first)) {
      report.problem(groupTable.name, key, `holds the group of record ${group.node}/${group.first}`);
      return undefined;
    }
    if (group.first > this.#next) {
      report.problem(groupTable.name, key, `the group of record ${this.#next} should come before`);
    } else if (group.first < this.#next) {
      report.problem(groupTable.name, key, 'overlaps the group before');
      return undefined;
    }
    return group;
  }

  /** Leaves of a group, in order; null where its records are not all here. */
  async #derive(key: string, group: Group, derived: DerivedWalk): Promise<readonly Uint8Array[] | null> {
    const { report } = this.#check;
    const texts = await this.#bodies.take(group.first, group.size);
    report.count('groups');
    if (texts === undefined) {
      await this.#payloads?.take(group, []);
      return null;
    }
    const { leaves, records } = deriveGroup(this.#check, key, group, texts);
    report.count('records', records.length);
    derived.take(records);
    // Side by side: each mostly waits for LevelDB.
    await Promise.all([
      this.#index.expect(records.map(({ record }) => ({ key: recordIndex.key(record.id), value: record.seq }))),
      this.#sources.take(records),
      ...this.#walks.map((walk) => walk.take(records.map(({ record }) => record))),
      this.#payloads?.take(group, records),
    ]);
    return leaves;
  }
}
