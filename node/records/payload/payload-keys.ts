import { isNodeId, isRecordId, type NodeId, nodeOfRecord, type RecordId } from '../../../protocol/ids.ts';
import { CoveringRows } from '../../store/covering-rows.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads } from '../../store/store.ts';
import { bytesCodec, Table } from '../../store/table.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { GCM_SEED_BYTES, namesCipher, SEED_BYTES } from './payload-cipher.ts';

/** Records whose keys share a row, from the first of their group on. */
export const KEY_ROW_RECORDS = 64;

/** (node, first seq) → places of the keys of this node's records, in order of seq. */
export const payloadKeyTable = new Table('payload-keys', bytesCodec);
/**
 * (record id) → seed of the key of a record that is prepared for a payment and not made yet. Up to format 3, of any
 * record.
 */
export const preparedKeyTable = new Table('payload-key', bytesCodec);

/**
 * A place holds the seed of a payload's key. Its first byte says by which cipher the payload is sealed; in a seed of
 * ChaCha20-Poly1305 that byte is part of the seed, one of AES-256-GCM stands behind it. A place of zeros: the payload
 * is erased.
 */
const PLACE_BYTES = SEED_BYTES;
const NONE = 0;
const GCM = 2;
/** Opens no payload: what is read where a row is damaged. */
const DAMAGED = new Uint8Array(0);

/** A record of this node. */
export interface KeyHolder {
  readonly id: RecordId;
  readonly seq: number;
}

/** The row of the keys of neighbouring records. Null: erased. */
export function keyRow(seeds: readonly (Uint8Array | null)[]): Uint8Array {
  const row = Buffer.alloc(seeds.length * PLACE_BYTES);
  seeds.forEach((seed, i) => {
    if (seed === null) return;
    const at = i * PLACE_BYTES;
    if (seed.length === GCM_SEED_BYTES) row[at] = GCM;
    else if (!isSeed(seed)) throw new RangeError('a seed is of no known cipher');
    row.set(seed, at + PLACE_BYTES - seed.length);
  });
  return row;
}

/** Whether a row of keys can hold it. */
export function isSeed(seed: Uint8Array): boolean {
  return seed.length === GCM_SEED_BYTES || (seed.length === SEED_BYTES && namesCipher(seed[0]));
}

/** Rows of the keys of a group's records, the first of them with seq `first`. */
export function keyOperations(
  first: number,
  keys: readonly { readonly id: RecordId; readonly sealed: { readonly seed: Uint8Array } }[],
): Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < keys.length; at += KEY_ROW_RECORDS) {
    const some = keys.slice(at, at + KEY_ROW_RECORDS);
    const [head] = some;
    if (head === undefined) break;
    const row = keyRow(some.map(({ sealed }) => sealed.seed));
    operations.push(payloadKeyTable.put([nodeOfRecord(head.id), first + at], row));
  }
  return operations;
}

/**
 * The seeds of a row, null where the payload is erased. Throws `RangeError` where it is not as such rows are written.
 */
export function splitKeyRow(row: Uint8Array): (Uint8Array | null)[] {
  const places = row.length / PLACE_BYTES;
  if (!Number.isInteger(places) || places > KEY_ROW_RECORDS) throw new RangeError('a row of keys has another length');
  return Array.from({ length: places }, (_, i) => {
    const seed = seedAt(row, i);
    if (seed === DAMAGED) throw new RangeError(`place ${i} of a row of keys holds no seed`);
    return seed;
  });
}

/** Where a record's key stands. */
interface KeyPlace {
  /** Key of the row. */
  readonly row: string;
  readonly place: number;
  /** Null where the payload is erased. One of a damaged row opens nothing. */
  readonly seed: Uint8Array | null;
}

/** Undefined where the record never had a payload here. */
export async function findKey(store: Reads, { id, seq }: KeyHolder): Promise<KeyPlace | undefined> {
  const node = nodeOfRecord(id);
  const found = await rows.find(store, [node], seq);
  return found && { row: payloadKeyTable.key(node, found.first), place: seq - found.first, seed: found.seed };
}

/** The seed of a record's key; undefined where there is none, or none any more. */
export async function readSeed(store: Reads, holder: KeyHolder): Promise<Uint8Array | undefined> {
  return (await findKey(store, holder))?.seed ?? undefined;
}

/** As `readSeed`, of each. */
export async function readSeeds(
  store: Reads,
  holders: readonly KeyHolder[],
): Promise<readonly (Uint8Array | undefined)[]> {
  const seeds: (Uint8Array | undefined)[] = [];
  const slices = new TimeSlices();
  for (const holder of holders) {
    if (slices.isOver) await slices.rest();
    seeds.push(await readSeed(store, holder));
  }
  return seeds;
}

/** Whose key is erased. */
export interface ErasedKey {
  readonly id: RecordId;
  /** Null where the record is in no group here. */
  readonly seq: number | null;
}

/** What erases keys, and where their bytes were. */
export interface KeyErasure {
  /** For the write of the erasure. */
  readonly operations: readonly Operation[];
  /** Keys of the rows that these change: what they held before is to be purged. */
  readonly rows: readonly string[];
}

/**
 * Zeroes the places of records' keys, all of a row at once, on the row as it is when the write is applied: erasures
 * that meet in a row undo nothing of each other. The seed of a record that was prepared for a payment, or made in an
 * earlier format, stood under its id before, and may be left in a file: that row is deleted once more.
 */
export async function eraseKeys(store: Reads, erased: readonly ErasedKey[]): Promise<KeyErasure> {
  const places = new Map<string, number[]>();
  const slices = new TimeSlices();
  for (const { id, seq } of erased) {
    if (slices.isOver) await slices.rest();
    if (seq === null) continue;
    const found = await findKey(store, { id, seq });
    if (found !== undefined) places.set(found.row, [...(places.get(found.row) ?? []), found.place]);
  }
  const single = erased.map(({ id }) => preparedKeyTable.del(id));
  const zeroed = [...places].map(([key, at]): Operation => ({
    type: 'rewrite',
    key,
    rewrite: (row) => zeroPlaces(row, at),
  }));
  return { operations: [...zeroed, ...single], rows: [...places.keys(), ...single.map(({ key }) => key)] };
}

/** Whose store it is, by the payload keys in it, of this format or of format 3; null where there are none. */
export async function ownerOfKeys(store: Reads): Promise<NodeId | null> {
  const [node = ''] = await firstParts(store, payloadKeyTable);
  if (isNodeId(node)) return node;
  const [id = ''] = await firstParts(store, preparedKeyTable);
  return isRecordId(id) ? nodeOfRecord(id) : null;
}

async function firstParts(store: Reads, table: Table<Uint8Array>): Promise<readonly string[]> {
  for await (const [parts] of table.under(store, [], { limit: 1 })) return parts;
  return [];
}

const rows = new CoveringRows<
  readonly [NodeId],
  Uint8Array,
  { readonly first: number; readonly seed: Uint8Array | null }
>({
  table: payloadKeyTable,
  isDamaged: isOfOtherLength,
  open({ first, value }, seq) {
    const place = seq - first;
    if (place >= KEY_ROW_RECORDS) return undefined;
    if (isOfOtherLength(value)) return { first, seed: DAMAGED };
    return place * PLACE_BYTES < value.length ? { first, seed: seedAt(value, place) } : undefined;
  },
});

function isOfOtherLength(row: Uint8Array): boolean {
  return row.length % PLACE_BYTES !== 0;
}

function seedAt(row: Uint8Array, place: number): Uint8Array | null {
  const bytes = row.subarray(place * PLACE_BYTES, (place + 1) * PLACE_BYTES);
  if (namesCipher(bytes[0])) return bytes;
  if (bytes[0] === GCM) return bytes.subarray(1);
  return bytes[0] === NONE && bytes.every((byte) => byte === 0) ? null : DAMAGED;
}

function zeroPlaces(row: Uint8Array, places: readonly number[]): Uint8Array {
  const zeroed = Uint8Array.from(row);
  for (const place of places) zeroed.fill(0, place * PLACE_BYTES, (place + 1) * PLACE_BYTES);
  return zeroed;
}
