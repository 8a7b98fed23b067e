import type { Logger } from 'pino';
import type { NodeId } from '../../../protocol/ids.ts';
import { REVIEW_PROJECTION } from '../../governance/due-reviews.ts';
import { GOVERNANCE_PROJECTIONS } from '../../governance/governance-tables.ts';
import { INCIDENT_PROJECTIONS } from '../../governance/incident-tables.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import { placedHoldProjection } from '../../records/placed-hold-table.ts';
import { type Projection, projectionVersionTable } from '../../records/projection.ts';
import { tryOpenRecord } from '../../records/record-reader.ts';
import { splitTexts } from '../../records/record-lines.ts';
import { bodyTable } from '../../records/record-tables.ts';
import type { Operation } from '../../store/operation.ts';
import type { Rows } from '../../store/store.ts';
import { endFormerRequests, type PurgedRows } from './ended-requests.ts';

/**
 * Goes up where one of these gets other rows than before: then all of theirs are made again. 3: no payment whose answer
 * has ended tells its request. 4: legal holds of every node are found by their sources.
 */
const PROJECTIONS_VERSION = 4;

/** Projections of own records whose rows a store of an earlier release has not got, or has in another order. */
const RENEWED_OF_OWN: readonly Projection[] = [...INCIDENT_PROJECTIONS, ...GOVERNANCE_PROJECTIONS, REVIEW_PROJECTION];
/** The same of the records of every node, and what stands in the text of each record that has such a row. */
const RENEWED_OF_ALL: readonly Projection[] = [placedHoldProjection];
const KIND_OF_ALL = 'retention_lock' satisfies RecordKind;
const RENEWED = [...RENEWED_OF_OWN, ...RENEWED_OF_ALL];

/** Operations after which a write is full. */
const WRITE_OPERATIONS = 1_024;
/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';

/** Names of the tables whose rows are made when the node next starts; none where a start of this release made them. */
export async function awaitedProjections(store: Rows, node: NodeId | null): Promise<ReadonlySet<string>> {
  const isMade = node === null ? await isAnyCurrent(store) : await isCurrent(store, node);
  return isMade ? new Set() : new Set(RENEWED.map(({ table }) => table.name));
}

/**
 * Makes the rows again that this release derives from a node's own records, or from those of every node, and an earlier
 * one did not, or otherwise, and takes away what this release does not keep.
 *
 * Crash order: the version is written last, so that what a crash leaves is made again from the beginning.
 */
export async function renewProjections(
  store: PurgedRows,
  node: NodeId,
  log: Pick<Logger, 'info'> | null,
): Promise<void> {
  if (await isCurrent(store, node)) return;
  log?.info('rows by which records are found are made again, once; this reads all records');
  await endFormerRequests(store, log);
  for (const { table } of RENEWED) await dropRows(store, table.name);
  let records = 0;
  let operations: Operation[] = [];
  const own = `${bodyTable.key(node)}/`;
  for await (const [key, bytes] of store.range({ gte: `${bodyTable.name}/`, lt: bodyTable.name + AFTER_SLASH })) {
    const isOwn = key.startsWith(own);
    for (const texts of textsOf(bytes)) {
      if (!isOwn && !texts.head.includes(KIND_OF_ALL)) continue;
      const record = tryOpenRecord(texts);
      if (record === undefined) continue;
      records++;
      for (const { rowsOf } of isOwn ? RENEWED : RENEWED_OF_ALL) operations.push(...rowsOf(record));
    }
    if (operations.length < WRITE_OPERATIONS) continue;
    await store.write(operations);
    operations = [];
  }
  await store.write([...operations, projectionVersionTable.put([node], PROJECTIONS_VERSION)]);
  if (records > 0) log?.info({ records }, 'rows of records of governance are made again');
}

/** Of a store that does not tell whose it is. */
async function isAnyCurrent(store: Rows): Promise<boolean> {
  const { name } = projectionVersionTable;
  for await (const [, bytes] of store.range({ gte: `${name}/`, lt: name + AFTER_SLASH })) {
    if (isCurrentVersion(bytes)) return true;
  }
  return false;
}

async function isCurrent(store: Rows, node: NodeId): Promise<boolean> {
  const bytes = await store.get(projectionVersionTable.key(node));
  return bytes !== undefined && isCurrentVersion(bytes);
}

/** One that does not read is none: the rows are made again, and it is written anew. */
function isCurrentVersion(bytes: Uint8Array): boolean {
  try {
    return projectionVersionTable.decode(bytes) === PROJECTIONS_VERSION;
  } catch {
    return false;
  }
}

/** A row that does not read is for `fsck` to name, and no reason for a node not to start. */
function textsOf(bytes: Uint8Array): ReturnType<typeof splitTexts> {
  try {
    return splitTexts(bodyTable.decode(bytes));
  } catch {
    return [];
  }
}

async function dropRows(store: Rows, table: string): Promise<void> {
  let dropped: Operation[] = [];
  for await (const [key] of store.range({ gte: `${table}/`, lt: table + AFTER_SLASH })) {
    dropped.push({ type: 'del', key });
    if (dropped.length < WRITE_OPERATIONS) continue;
    await store.write(dropped);
    dropped = [];
  }
  if (dropped.length > 0) await store.write(dropped);
}
