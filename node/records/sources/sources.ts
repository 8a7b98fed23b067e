import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { SourceHead, SourceName } from '../../../protocol/chain/sources.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { countOf, sourceIndex, SourceRows } from './source-index.ts';
import type { Operation } from '../../store/operation.ts';
import { RowCache } from '../../store/row-cache.ts';
import type { Reads, Store } from '../../store/store.ts';

/** Heads kept in memory; the others are read back when their source speaks again. */
const MAX_CACHED_HEADS = 20_000;
const SOURCE_KEY_HEX = 32;
/** Key parts that are remembered: most records are of a source that spoke a moment ago. */
const MAX_CACHED_KEYS = 4_096;
/** Heads that are read back together. */
const READ_TOGETHER = 64;
/** `sourceSeq` of the first record of every source. */
const FIRST = 1;

const keys = new LRUCache<string, string>({ max: MAX_CACHED_KEYS });

/** A source id as a key part: any text of any length becomes 32 hex digits. */
export function sourceKey(sourceId: string): string {
  const known = keys.get(sourceId);
  if (known !== undefined) return known;
  const key = hash('sha256', sourceId, 'hex').slice(0, SOURCE_KEY_HEX);
  keys.set(sourceId, key);
  return key;
}

/** A record and the hash of its leaf. */
export interface HashedRecord {
  readonly record: AttestationRecord;
  readonly leaf: Uint8Array;
}

/** Rows by which records are found through their sources: records of this node, in order. */
export function sourceIndexOperations(records: readonly HashedRecord[]): Operation[] {
  const sources = new Map<string, SourceRows>();
  for (const { record, leaf } of records) {
    const key = cacheKey(record);
    const known = sources.get(key);
    const rows = known ?? new SourceRows(record.account, sourceKey(record.sourceId));
    if (known === undefined) sources.set(key, rows);
    rows.add(record.sourceSeq, record.seq, leaf);
  }
  return [...sources.values()].flatMap((rows) => rows.operations());
}

/** Whether this node has a record of the source. */
export async function hasRecords(store: Reads, { account, sourceId }: SourceName): Promise<boolean> {
  return (await store.get(sourceIndex.key(account, sourceKey(sourceId), FIRST))) !== undefined;
}

/** The last record of a source by its index; undefined where there is none. */
async function readHead(store: Reads, name: SourceName): Promise<SourceHead | undefined> {
  // A row by its key costs a tenth of a search, and most sources that are not in memory are new.
  if (!(await hasRecords(store, name))) return undefined;
  const last = await sourceIndex.last(store, [name.account, sourceKey(name.sourceId)]);
  return last && { sourceSeq: Number(last[0]) + countOf(last[1]) - 1, leaf: writeSha256(last[1].leaf) };
}

/** Durable heads of the sources, cached. Owned by intake: only a group that reached the disk moves a head. */
export class SourceHeads {
  readonly #store: Store;
  /** Null before the first record of a source. */
  readonly #cache = new RowCache<SourceHead | null>(MAX_CACHED_HEADS);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Makes sure that `get` can answer for these sources. */
  async load(names: readonly SourceName[]): Promise<void> {
    const needed = new Map(names.map((name) => [cacheKey(name), name]));
    await this.#cache.load(needed, async (missing) => {
      const heads: [key: string, head: SourceHead | null][] = [];
      for (let at = 0; at < missing.length; at += READ_TOGETHER) {
        heads.push(...(await Promise.all(missing.slice(at, at + READ_TOGETHER).map((key) => this.#read(key, needed)))));
      }
      return heads;
    });
  }

  async #read(key: string, names: ReadonlyMap<string, SourceName>): Promise<[key: string, head: SourceHead | null]> {
    const name = names.get(key);
    return [key, (name && (await readHead(this.#store, name))) ?? null];
  }

  /** The head of a loaded source; undefined before its first record. */
  get(name: SourceName): SourceHead | undefined {
    return this.#cache.get(cacheKey(name)) ?? undefined;
  }

  /** Called once the rows are on the disk. */
  commit(heads: TentativeHeads): void {
    for (const [key, { head }] of heads.moved) this.#cache.set(key, head);
  }
}

interface MovedSource {
  readonly rows: SourceRows;
  head: SourceHead;
}

/**
 * Heads as they will be once a group is written, on top of the group before it and the durable ones, and the group's
 * rows.
 */
export class TentativeHeads {
  readonly moved = new Map<string, MovedSource>();
  #before: TentativeHeads | undefined;
  readonly #durable: SourceHeads;

  constructor(durable: SourceHeads, before?: TentativeHeads) {
    this.#durable = durable;
    this.#before = before;
  }

  get(name: SourceName): SourceHead | undefined {
    const key = cacheKey(name);
    return this.moved.get(key)?.head ?? this.#before?.moved.get(key)?.head ?? this.#durable.get(name);
  }

  /** Takes the next record. */
  move({ record, leaf }: HashedRecord): void {
    const key = cacheKey(record);
    const head = { sourceSeq: record.sourceSeq, leaf: writeSha256(leaf) };
    let source = this.moved.get(key);
    if (source === undefined) {
      source = { rows: new SourceRows(record.account, sourceKey(record.sourceId)), head };
      this.moved.set(key, source);
    }
    source.rows.add(record.sourceSeq, record.seq, leaf);
    source.head = head;
  }

  /** Once the group before is durable its heads are found there; letting go of them keeps the chain short. */
  forgetBefore(): void {
    this.#before = undefined;
  }

  operations(): Operation[] {
    return [...this.moved.values()].flatMap(({ rows }) => rows.operations());
  }
}

function cacheKey({ account, sourceId }: SourceName): string {
  return `${account}/${sourceId}`;
}
