import { hash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { fsck, StoreView } from '../../node/fsck/fsck.ts';
import type { Store } from '../../node/store/store.ts';
import type { RowMark } from './write-path.ts';

/** Fails unless `fsck` finds nothing wrong with a stopped node's home. */
export async function requireWholeHome(home: string): Promise<void> {
  const problems: string[] = [];
  await fsck(home, {
    onFinding({ severity, table, key, detail }) {
      if (severity === 'problem') problems.push(`${table} ${key}: ${detail}`);
    },
  });
  assert.equal(problems, []);
}

/** Looks at the rows of a stopped node's store without changing a byte of it. */
export async function inspect<Result>(home: string, look: (store: Store) => Promise<Result>): Promise<Result> {
  await using view = await StoreView.open(home);
  return await look(await view.rows());
}

export async function holdsRow(store: Store, { key, sha256 }: RowMark): Promise<boolean> {
  const held = await store.get(key);
  return held !== undefined && hash('sha256', held) === sha256;
}
