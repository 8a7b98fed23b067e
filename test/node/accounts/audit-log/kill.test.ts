import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AuditFixture, entriesOf, temporaryDirectory } from './audit-fixture.ts';

const WRITER = join(import.meta.dirname, 'audit-writer.ts');
const KILLS = 5;

/** Runs the writer until it has told of some changes, kills it, and returns the last one told. */
async function killWriter(directory: string, from: number): Promise<number> {
  const writer = spawn(process.execPath, [WRITER, directory, String(from)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(writer, 'exit');
  let last = from - 1;
  const until = from + 1 + Math.floor(Math.random() * 30);
  for await (const line of createInterface({ input: writer.stdout })) {
    last = Number(line);
    if (last === until) writer.kill('SIGKILL');
  }
  await ended;
  return last;
}

test('a log whose process is killed again and again is one whole chain with every change that was told', async () => {
  await using directory = await temporaryDirectory();
  let told = -1;
  for (let kill = 0; kill < KILLS; kill++) {
    const last = await killWriter(directory.path, told + 1);
    await using fixture = await AuditFixture.open(directory.path);
    const entries = await entriesOf(fixture.store, 'acme');
    const changes = entries.filter(({ action }) => action === 'key.created').map(({ subject }) => Number(subject));
    assert.equal(
      changes.slice(0, last + 1),
      Array.from({ length: last + 1 }, (_, change) => change),
    );
    // One more may have reached the disk without being told.
    assert.ok(changes.length <= last + 2, `told up to ${last}, on the disk ${changes.join(' ')}`);
    told = changes.length - 1;
  }
  assert.ok(told > KILLS);
});

test.run();
