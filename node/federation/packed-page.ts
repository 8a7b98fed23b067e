import type { Transferable } from 'node:worker_threads';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { RecordId } from '../../protocol/ids.ts';
import { HASH_BYTES } from '../../protocol/merkle/tiles.ts';
import type { Operation } from '../store/operation.ts';
import type { PageGroup } from './page-check.ts';

/** Byte strings in one buffer, which goes from thread to thread without a copy. */
export interface PackedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

/** Checked groups as one thread hands them to another. */
export interface PackedGroups {
  /** Of each group the numbers of its frames, of its records and of its rows. */
  readonly sizes: Uint32Array<ArrayBuffer>;
  readonly ids: readonly RecordId[];
  readonly keys: readonly string[];
  /** Of all rows. */
  readonly values: PackedBytes;
  readonly leaves: Uint8Array<ArrayBuffer>;
  /** Of each group. */
  readonly accountRecords: readonly (readonly AttestationRecord[])[];
}

const NUMBERS = 3;

export function packBytes(parts: readonly Uint8Array[]): PackedBytes {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  const ends = new Uint32Array(parts.length);
  let at = 0;
  parts.forEach((part, i) => {
    bytes.set(part, at);
    at += part.length;
    ends[i] = at;
  });
  return { bytes, ends };
}

export function unpackBytes({ bytes, ends }: PackedBytes): Uint8Array[] {
  let at = 0;
  return Array.from(ends, (end) => bytes.subarray(at, (at = end)));
}

/** What of packed bytes is given away. */
export function givenBytes({ bytes, ends }: PackedBytes): Transferable[] {
  return [bytes.buffer, ends.buffer];
}

export function packGroups(groups: Iterable<PageGroup>): PackedGroups {
  const sizes: number[] = [];
  const [ids, keys]: [RecordId[], string[]] = [[], []];
  const [values, leaves]: [Uint8Array[], Uint8Array[]] = [[], []];
  const accountRecords: (readonly AttestationRecord[])[] = [];
  for (const group of groups) {
    const rows = group.rows();
    sizes.push(group.frames, group.ids.length, rows.length);
    for (const row of rows) {
      if (row.type !== 'put') throw new TypeError('a group is of rows that are put');
      keys.push(row.key);
      values.push(row.value);
    }
    ids.push(...group.ids);
    leaves.push(packBytes(group.leaves).bytes);
    accountRecords.push(group.accountRecords);
  }
  const packed = { ids, keys, accountRecords, values: packBytes(values), leaves: packBytes(leaves).bytes };
  return { sizes: Uint32Array.from(sizes), ...packed };
}

export function givenGroups({ sizes, values, leaves }: PackedGroups): Transferable[] {
  return [sizes.buffer, leaves.buffer, ...givenBytes(values)];
}

export function unpackGroups({ sizes, ids, keys, values, leaves, accountRecords }: PackedGroups): PageGroup[] {
  const { bytes, ends } = values;
  const groups: PageGroup[] = [];
  let [record, row] = [0, 0];
  for (let at = 0; at * NUMBERS < sizes.length; at++) {
    const [frames = 0, size = 0, rows = 0] = sizes.subarray(at * NUMBERS);
    const [first, firstRow] = [record, row];
    record += size;
    row += rows;
    groups.push({
      frames,
      ids: ids.slice(first, record),
      leaves: Array.from({ length: size }, (_, i) =>
        leaves.subarray((first + i) * HASH_BYTES, (first + i + 1) * HASH_BYTES),
      ),
      rows: () =>
        keys.slice(firstRow, firstRow + rows).map((key, i): Operation => {
          const value = bytes.subarray(ends[firstRow + i - 1] ?? 0, ends[firstRow + i]);
          return { type: 'put', key, value };
        }),
      accountRecords: accountRecords[at] ?? [],
    });
  }
  return groups;
}
