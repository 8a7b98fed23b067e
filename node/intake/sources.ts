import Type, { type Static } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { hash } from 'node:crypto';
import { writeSha256 } from '../../protocol/hash.ts';
import { OrdinalShape, Sha256Shape } from '../../protocol/shapes.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, numberCodec, Table } from '../store/table.ts';

const SourceHeadShape = Type.Object(
  { sourceId: Type.String(), sourceSeq: OrdinalShape, leaf: Sha256Shape },
  { additionalProperties: false },
);
/** The last record of a source: its counter and its leaf hash, which the next record names as `sourcePrev`. */
export type SourceHead = Static<typeof SourceHeadShape>;

const compiled = Compile(SourceHeadShape);
/** (account, source key) → head. */
export const sourceHeadTable = new Table(
  'source',
  jsonCodec((value: unknown): value is SourceHead => compiled.Check(value)),
);
/** (account, source key, sourceSeq) → seq of the record. */
export const sourceRecordTable = new Table('source-record', numberCodec);

/** Heads kept in memory; the others are read back when their source speaks again. */
const MAX_CACHED_HEADS = 20_000;
const SOURCE_KEY_HEX = 32;
/** Heads that are read back together. */
const READ_TOGETHER = 256;

/** A source id as a key part: any text of any length becomes 32 hex digits. */
export function sourceKey(sourceId: string): string {
  return hash('sha256', sourceId, 'hex').slice(0, SOURCE_KEY_HEX);
}

/** A source's rows are found under this name. */
export interface SourceName {
  readonly account: string;
  readonly sourceId: string;
}

/** A record and the hash of its leaf. */
interface HashedRecord {
  readonly record: AttestationRecord;
  readonly leaf: Uint8Array;
}

/** Rows by which records are found through their sources: records of this node, in order. Heads are not among them. */
export function sourceRecordOperations(records: readonly HashedRecord[]): Operation[] {
  return records.map(({ record }) =>
    sourceRecordTable.put([record.account, sourceKey(record.sourceId), record.sourceSeq], record.seq),
  );
}

/** Heads of the sources as the records leave them. */
export function sourceHeadOperations(records: readonly HashedRecord[]): Operation[] {
  return records.map(({ record: { account, sourceId, sourceSeq }, leaf }) =>
    sourceHeadTable.put([account, sourceKey(sourceId)], { sourceId, sourceSeq, leaf: writeSha256(leaf) }),
  );
}

/** Durable heads of the sources, cached. Owned by intake: only a group that reached the disk moves a head. */
export class SourceHeads {
  readonly #store: Store;
  readonly #cache = new Map<string, SourceHead | null>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Makes sure that `get` can answer for these sources. */
  async load(names: readonly SourceName[]): Promise<void> {
    const needed = new Map(names.map((name) => [cacheKey(name), name]));
    this.#evict(needed);
    const unknown = [...needed].filter(([key]) => !this.#cache.has(key));
    for (let at = 0; at < unknown.length; at += READ_TOGETHER) await this.#read(unknown.slice(at, at + READ_TOGETHER));
  }

  async #read(names: readonly (readonly [key: string, name: SourceName])[]): Promise<void> {
    const keys = names.map(([, { account, sourceId }]) => sourceHeadTable.key(account, sourceKey(sourceId)));
    const rows = await this.#store.getMany(keys);
    names.forEach(([key], i) => {
      const row = rows[i];
      // A group may have committed a newer head while this one was being read.
      if (!this.#cache.has(key)) this.#cache.set(key, row === undefined ? null : sourceHeadTable.decode(row));
    });
  }

  /** The head of a loaded source; undefined before its first record. */
  get(name: SourceName): SourceHead | undefined {
    return this.#cache.get(cacheKey(name)) ?? undefined;
  }

  /** Called once the rows are on the disk. */
  commit(heads: TentativeHeads): void {
    for (const [key, { head }] of heads.moved) this.#cache.set(key, head);
  }

  /** Makes room by dropping the sources cached longest ago, but none that is about to be used. */
  #evict(needed: ReadonlyMap<string, SourceName>): void {
    let surplus = this.#cache.size + needed.size - MAX_CACHED_HEADS;
    for (const key of this.#cache.keys()) {
      if (surplus <= 0) return;
      if (!needed.has(key) && this.#cache.delete(key)) surplus--;
    }
  }
}

/** Heads as they will be once a group is written, on top of the group before it and the durable ones. */
export class TentativeHeads {
  readonly moved = new Map<string, { readonly name: SourceName; readonly head: SourceHead }>();
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

  move(name: SourceName, head: SourceHead): void {
    this.moved.set(cacheKey(name), { name, head });
  }

  /** Once the group before is durable its heads are found there; letting go of them keeps the chain short. */
  forgetBefore(): void {
    this.#before = undefined;
  }

  operations(): Operation[] {
    return [...this.moved.values()].map(({ name, head }) =>
      sourceHeadTable.put([name.account, sourceKey(name.sourceId)], head),
    );
  }
}

function cacheKey({ account, sourceId }: SourceName): string {
  return `${account}/${sourceId}`;
}
