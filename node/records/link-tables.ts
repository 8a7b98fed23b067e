import { type NodeId, nodeId, recordId, type RecordId } from '../../protocol/ids.ts';
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

/**
 * (linked record) → nothing: a row of each record that a row of `linkTable` names, so that one key tells of nearly all
 * records that nothing links to them. It is written with every link and stays where links are taken back: it may say
 * too much and never too little.
 */
export const linkedTable = new Table('linked', textCodec);

/** The rows by which a record is found from those that it links to. */
export function linkOperations({ id, kind, links, node, seq }: AttestationRecord): Operation[] {
  return linkedIds(links).map(([name, target]) => linkTable.put([target, name, kind, node, seq], id));
}

export const linkProjection: Projection = { table: linkTable, rowsOf: linkOperations };

/** The rows that say so of the records that it links to. */
export function linkedOperations({ links }: AttestationRecord): Operation[] {
  return linkedIds(links).map(([, target]) => linkedTable.put([target], ''));
}

/** Every record that these links name, with the link's name. */
function linkedIds(links: Links): [name: LinkName, target: RecordId][] {
  // Most records link to nothing, and each is asked for its link rows and for its marks.
  if (Object.keys(links).length === 0) return [];
  const { agent, correctiveAction, decision, erased = [], incident, lock, original } = links;
  const { related = [], session, supersedes } = links;
  const single = { agent, correctiveAction, decision, incident, lock, original, session, supersedes };
  const found: [LinkName, RecordId][] = [];
  for (const name of SINGLE) {
    const target = single[name];
    if (target !== undefined) found.push([name, target]);
  }
  for (const target of new Set(erased)) found.push(['erased', target]);
  for (const target of new Set(related)) found.push(['related', target]);
  return found;
}

const SINGLE = [
  'agent',
  'correctiveAction',
  'decision',
  'incident',
  'lock',
  'original',
  'session',
  'supersedes',
] as const;

/** False where no record links to one. */
export async function mayBeLinked(store: Pick<Reads, 'get'>, target: RecordId): Promise<boolean> {
  return (await linkedTable.get(store, target)) !== undefined;
}

/** Records of a kind that link to a record by a name. */
export interface LinksTo {
  readonly target: RecordId;
  readonly name: LinkName;
  readonly kind: RecordKind;
}

/**
 * Ids of the records that link so, at most `limit`, nodes in order of their ids; `by`: those that this node made,
 * alone.
 */
export async function linkingIds(
  store: Reads,
  { target, name, kind }: LinksTo,
  limit: number,
  by?: NodeId,
): Promise<RecordId[]> {
  const ids: RecordId[] = [];
  const parts = [target, name, kind, ...(by === undefined ? [] : [by])];
  for await (const [, id] of linkTable.under(store, parts, { limit })) ids.push(recordId(id));
  return ids;
}

/** Ids that were found, and whether there are more. */
export interface FoundIds {
  readonly ids: readonly RecordId[];
  readonly truncated: boolean;
}

/** Nodes whose links to one record are looked at where there are many. */
const MAX_NODES = 32;

/**
 * The same of every node: all where there are no more than `limit`, else up to `limit` of `home` and `each` of every
 * other, so that what one node makes hides nothing of another.
 */
export async function linkingIdsOfEach(
  store: Reads,
  links: LinksTo,
  { limit, each, home }: { readonly limit: number; readonly each: number; readonly home: NodeId | undefined },
): Promise<FoundIds> {
  const some = await linkingIds(store, links, limit + 1);
  if (some.length <= limit) return { ids: some, truncated: false };
  const ids = home === undefined ? [] : await linkingIds(store, links, limit, home);
  const { target, name, kind } = links;
  let from = '';
  for (let looked = 0; looked < MAX_NODES; looked++) {
    const node = await firstNode(store, [target, name, kind], from);
    if (node === undefined) break;
    if (node !== home) ids.push(...(await linkingIds(store, links, each, node)));
    // After every row of this node: `0` follows the `/` that ends it.
    from = `${node}0`;
  }
  return { ids, truncated: true };
}

async function firstNode(store: Reads, parts: readonly string[], from: string): Promise<NodeId | undefined> {
  for await (const [[node]] of linkTable.under(store, parts, { from, limit: 1 })) return nodeId(node ?? '');
  return undefined;
}
