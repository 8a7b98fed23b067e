import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const SCRIPT = join(import.meta.dirname, 'churning-process.ts');
/** What is alive, what is young, and the growth of both; V8 by itself lets the heap grow to twice as much. */
const MOST_MIB = 280;

test('a heap of 64 MiB alive is looked through before garbage has multiplied it', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=8192', SCRIPT]);
  const most = Number(stdout);
  assert.ok(most > 64 && most <= MOST_MIB, `${most} MiB`);
});

test.run();
