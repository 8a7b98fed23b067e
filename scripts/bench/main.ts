import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUsageError, requireCommandLine, UsageError } from '../../node/config/command-line.ts';
import { attacks } from './attacks/attacks.ts';
import { catchUp } from './federation/catch-up.ts';
import { latency } from './federation/latency.ts';
import { linked } from './federation/linked.ts';
import { start } from './federation/start.ts';
import { storage } from './federation/storage.ts';
import { verification } from './federation/verification.ts';
import { http } from './http/http.ts';
import { intake } from './intake/intake.ts';
import { limits } from './limits/limits.ts';
import { lists } from './lists/lists.ts';
import { machineLine } from './machine.ts';
import { consoleScreens } from './console/console.ts';
import { packs } from './packs/packs.ts';
import type { Part } from './part.ts';
import { pages } from './pages/pages.ts';
import { payments } from './payments/payments.ts';
import { waiting } from './payments/waiting.ts';
import { peers } from './peers/peers.ts';
import { rest } from './rest/rest.ts';
import { screening } from './screening/screening.ts';
import { sealing } from './sealing/sealing.ts';
import { fsck } from './size/fsck.ts';
import { size } from './size/size.ts';
import { tableText } from './table.ts';

const PARTS: readonly Part[] = [
  http,
  peers,
  intake,
  limits,
  sealing,
  catchUp,
  fsck,
  verification,
  linked,
  latency,
  storage,
  start,
  rest,
  pages,
  packs,
  consoleScreens,
  payments,
  waiting,
  lists,
  screening,
  attacks,
  size,
];
/** Names that parts had before, for one release. */
const RENAMED: Readonly<Record<string, string>> = { hostile: 'attacks' };
const USAGE = `npm run bench -- [--only ${PARTS.map(({ name }) => name).join(',')}] [--quick]

Measures this machine and prints ratios from this one run. Needs a quiet machine, and no network but loopback.
  --only A,B   only these parts; without it all of them but ${PARTS.filter(({ isApart }) => isApart)
    .map(({ name }) => name)
    .join(', ')}
  --quick      short rounds: shows that everything runs, and little else
  --large      of size: ten million records too, some 30 GB of the disk`;

const { values: flags } = requireCommandLine(USAGE, {
  only: { type: 'string' },
  quick: { type: 'boolean', default: false },
  large: { type: 'boolean', default: false },
});
const parts = partsNamed(flags.only);
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

console.log(machineLine());
for (const part of parts) {
  if (interrupted.signal.aborted) break;
  await run(part);
}
// The ledger SDK keeps a timer for some seconds; everything of ours is closed.
process.exit(interrupted.signal.aborted ? 130 : 0);

async function run({ name, title, run: measure }: Part): Promise<void> {
  console.log(`\n${title}`);
  const home = await mkdtemp(join(tmpdir(), `meridian-bench-${name}-`));
  const say = (line: string): void => console.error(`  … ${line}`);
  try {
    const { table, notes } = await measure({
      quick: flags.quick,
      large: flags.large,
      home,
      signal: interrupted.signal,
      say,
    });
    console.log(`\n${tableText(table)}\n`);
    for (const note of notes) console.log(note);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function partsNamed(only: string | undefined): readonly Part[] {
  if (only === undefined) return PARTS.filter(({ isApart }) => isApart !== true);
  return only.split(',').map((name) => {
    const part = PARTS.find((candidate) => candidate.name === (RENAMED[name] ?? name));
    return part ?? endWithUsageError(new UsageError(`there is no part ${name}`));
  });
}
