import { execFileSync } from 'node:child_process';
import { Store } from '../../../node/store/store.ts';

/**
 * Runs under a limit on the size of a file, which ends its log in the middle of a record as a full disk does. Writes
 * until it is refused, has the limit lifted, writes on, and tells which rows were acknowledged.
 */
const [directory = ''] = process.argv.slice(2);
const VALUE = Buffer.alloc(40_000, 7);
const ROWS_AFTER = 20;
const acknowledged: string[] = [];

async function write(store: Store, key: string): Promise<string> {
  try {
    await store.write([
      { type: 'put', key, value: VALUE },
      { type: 'put', key: 'last', value: Buffer.from(key) },
    ]);
    acknowledged.push(key);
    return 'written';
  } catch (error) {
    return String(error);
  }
}

{
  await using store = await Store.open(directory);
  let refusal = 'written';
  for (let i = 0; refusal === 'written'; i++) refusal = await write(store, `before/${i}`);
  const whileFailing = { failing: store.failing, last: Buffer.from((await store.get('last')) ?? []).toString() };
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited']);
  const together = await Promise.all(Array.from({ length: ROWS_AFTER }, (_, i) => write(store, `after/${i}`)));
  process.send?.({ acknowledged, refusal, whileFailing, together, failing: store.failing });
}
