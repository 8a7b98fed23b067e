import type { RecordId } from '../../protocol/ids.ts';
import { recordId } from '../../protocol/ids.ts';
import type { Links } from '../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { RecordKind } from '../../protocol/statement/vocabulary.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { Projection } from './projection.ts';

/** What a link says of the record that it names. */
export type LinkName = keyof Links;

/**
 * (linked record, link name, kind of the linking record, its node, its seq) → id of the linking record. Of the records
 * of every node, written with them: a projection of the signed texts. A node's own come in the order in which they were
 * made.
 */
export const linkTable = new Table('link', textCodec);

/** The rows by which a record is found from those that it links to. */
export function linkOperations({ id, kind, links, node, seq }: AttestationRecord): Operation[] {
  return linkedIds(links).map(([name, target]) => linkTable.put([target, name, kind, node, seq], id));
}

export const linkProjection: Projection = { table: linkTable, rowsOf: linkOperations };

/** Every record that these links name, with the link's name. */
function linkedIds(links: Links): [name: LinkName, target: RecordId][] {
  const { agent, correctiveAction, erased = [], incident, lock, original, related = [], session, supersedes } = links;
  const single = { agent, correctiveAction, incident, lock, original, session, supersedes };
  const found: [LinkName, RecordId][] = [];
  for (const name of SINGLE) {
    const target = single[name];
    if (target !== undefined) found.push([name, target]);
  }
  for (const target of new Set(erased)) found.push(['erased', target]);
  for (const target of new Set(related)) found.push(['related', target]);
  return found;
}

const SINGLE = ['agent', 'correctiveAction', 'incident', 'lock', 'original', 'session', 'supersedes'] as const;

/** Whether any record links to one. */
export async function isLinked(store: Reads, target: RecordId): Promise<boolean> {
  for await (const _row of linkTable.under(store, [target], { limit: 1 })) return true;
  return false;
}

/** Ids of the records of a kind that link to a record by this name, at most `limit`, nodes in order of their ids. */
export async function linkingIds(
  store: Reads,
  target: RecordId,
  name: LinkName,
  kind: RecordKind,
  limit: number,
): Promise<RecordId[]> {
  const ids: RecordId[] = [];
  for await (const [, id] of linkTable.under(store, [target, name, kind], { limit })) ids.push(recordId(id));
  return ids;
}
