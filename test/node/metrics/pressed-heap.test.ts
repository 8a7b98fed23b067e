import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PressedHeap } from '../../../node/metrics/pressed-heap.ts';

const PRESS = '--incremental-marking-hard-trigger=5';
const RELEASE = '--incremental-marking-hard-trigger=0';
const SCRIPT = join(import.meta.dirname, 'churning-process.ts');
const MEBIBYTE = 1 << 20;
/** Of the pressed heap. */
const RUNS = 3;
/** What the process keeps alive. */
const ALIVE_MIB = 64;

/** What a look finds. */
interface Found {
  readonly mebibytes: number;
  readonly threads: number;
}

/** A heap beside what looks find, one after the other, and what V8 is told. */
class Looks {
  readonly told: string[] = [];
  #found: Found = { mebibytes: 0, threads: 0 };
  readonly heap = new PressedHeap({
    buffers: () => this.#found.mebibytes * MEBIBYTE,
    threads: () => this.#found.threads,
    tell: (flag) => void this.told.push(flag),
  });

  look(mebibytes: number, threads: number): this {
    this.#found = { mebibytes, threads };
    this.heap.look();
    return this;
  }
}

/** What V8 is told where a look finds so much. */
function told(mebibytes: number, threads: number): readonly string[] {
  return new Looks().look(mebibytes, threads).told;
}

async function mostMebibytes(...flags: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=8192', SCRIPT, ...flags]);
  return Number(stdout);
}

/** The least of some runs: threads of the collector that get no processor for a while only add to what one holds. */
async function leastMebibytes(runs: number, ...flags: readonly string[]): Promise<number> {
  const found: number[] = [];
  while (found.length < runs) found.push(await mostMebibytes(...flags));
  return Math.min(...found);
}

test('a heap that is pressed holds less garbage, and one that is released as much as before', async () => {
  const usual = await mostMebibytes();
  const pressed = await leastMebibytes(RUNS, PRESS);
  const released = await mostMebibytes(PRESS, RELEASE);
  const shown = `${usual}, ${pressed} and ${released} MiB`;
  assert.ok(pressed - ALIVE_MIB < 0.75 * (usual - ALIVE_MIB), shown);
  assert.ok(released > pressed, shown);
});

test('buffers and threads together press a heap, each by itself where it takes more', () => {
  assert.equal(told(30, 1), []);
  assert.equal(told(30, 2), [PRESS]);
  assert.equal(told(70, 0), [PRESS]);
  assert.equal(told(0, 3), [PRESS]);
});

test('it is pressed once, and released once they take clearly less', () => {
  const looks = new Looks().look(70, 0).look(80, 0).look(60, 0).look(50, 0);
  assert.equal(looks.told, [PRESS]);
  assert.equal(looks.look(40, 0).look(40, 0).told, [PRESS, RELEASE]);
});

test('what is disposed of presses no more', () => {
  const { heap, told: flags } = new Looks().look(70, 0);
  heap[Symbol.dispose]();
  assert.equal(flags, [PRESS, RELEASE]);
});

test.run();
