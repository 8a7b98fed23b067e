import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck, type FsckResult } from '../../../node/fsck/fsck.ts';
import type { Finding } from '../../../node/fsck/report.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { Store } from '../../../node/store/store.ts';

export type Row = readonly [key: string, value: Uint8Array];
/** Changes rows through LevelDB itself, so that every checksum of the files holds. */
export type Mutation = (rows: StoredRows) => Promise<readonly Operation[]>;

/** A store's rows, for a test that is about to change some of them. */
export class StoredRows {
  readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  /** Rows below a prefix, in key order. */
  async under(prefix: string): Promise<readonly Row[]> {
    return Array.fromAsync(this.store.range({ gte: prefix, lt: `${prefix}\u{10ffff}` }));
  }

  /** The row at an index; negative counts from the end. Throws where there is none. */
  async at(prefix: string, index: number): Promise<Row> {
    const row = (await this.under(prefix)).at(index);
    if (row === undefined) throw new RangeError(`no row ${index} below ${prefix}`);
    return row;
  }
}

export function put(key: string, value: Uint8Array | string): Operation {
  return { type: 'put', key, value: Buffer.from(value) };
}

export function del(key: string): Operation {
  return { type: 'del', key };
}

export function flipped(value: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(value);
  const index = at < 0 ? copy.length + at : at;
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}

/** Checks a copy of a home in which rows were changed. */
export async function fsckAfter(home: string, mutation: Mutation): Promise<FsckResult> {
  const copy = `${home}-changed`;
  await cp(home, copy, { recursive: true });
  try {
    {
      await using store = await Store.open(join(copy, 'store'));
      await store.write(await mutation(new StoredRows(store)));
    }
    return await fsck(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

export function problemsOf({ report }: FsckResult): readonly Finding[] {
  return report.findings.filter(({ severity }) => severity === 'problem');
}

/** A change of rows, and a finding that must name it. */
export interface Damage {
  readonly what: string;
  readonly mutate: Mutation;
  readonly found: readonly [table: string, detail: RegExp];
}

/** One test for each: the change is found and named. */
export function testDamages(home: string, damages: readonly Damage[]): void {
  for (const { what, mutate, found } of damages) {
    test(`found: ${what}`, async () => {
      const [table, detail] = found;
      const problems = problemsOf(await fsckAfter(home, mutate));
      const isNamed = problems.some((problem) => problem.table === table && detail.test(problem.detail));
      assert.ok(isNamed, JSON.stringify(problems, null, 1));
    });
  }
}
