import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Commit } from '../../node/store/operation.ts';
import { DISK_FAULTS, type DiskFault, failOnDisk } from '../fixtures/failing-disk.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { everythingDone, requireExactlyOnce } from './aftermath.ts';
import { Submissions } from './submissions.ts';
import { holdsRow, inspect, requireWholeHome } from './whole-home.ts';
import {
  isMade,
  markOf,
  PEER,
  rowOfStep,
  type StepName,
  type StepRow,
  VICTIM,
  WRITE_STEPS,
  type WriteStep,
} from './write-path.ts';

/** What the disk held when a write had just failed, and what had been acknowledged until then. */
interface Failure {
  readonly row: StepRow;
  readonly copy: string;
  readonly acknowledged: ReadonlyMap<string, string>;
}

const MEANING: Readonly<Record<DiskFault, string>> = {
  full: 'no space (ENOSPC)',
  broken: 'an input/output error (EIO)',
  unsynced: 'on the disk, but the sync fails',
};

/** After which, and not before, a transaction may go to the ledger. */
const FREEZING: StepName = 'anchor frozen';

/** The disk fails under a node at every write of a record's way; the node goes on by itself. */
const test = suite('a write that fails');

const scratch = await mkdtemp(join(tmpdir(), 'failed-'));
let armed: { readonly step: WriteStep; readonly fault: DiskFault; readonly after: number } | undefined;
let failure: Failure | undefined;
let copies = 0;

const network = await TestNetwork.start({
  nodes: [VICTIM, PEER],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: 100, logLevel: 'silent' },
  overrides: { gate: pass },
});
const victim = network.node(VICTIM);
const peer = network.node(PEER);
const atVictim = new Submissions(victim);
const atPeer = new Submissions(peer);

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

for (const fault of DISK_FAULTS) {
  for (const step of WRITE_STEPS) {
    test(`${step.name}: ${MEANING[fault]}`, async () => {
      const submissions = step.origin === PEER ? atPeer : atVictim;
      failure = undefined;
      armed = { step, fault, after: reached(step) };
      // Nobody sees a message that was sent: anyone who forgets that it may be on the ledger sends another.
      if (step.name === FREEZING) network.ledger.local?.ledger.faults.set({ mirrorDown: true });
      await submissions.submit(`${fault}/${step.name}`);
      await until('the failure', () => failure !== undefined);
      const failed = await requireWholeCopy(fault);
      const started = performance.now();
      await submissions.repeat();
      await until('the step', () => isMade(step, failed.row, victim.context.store));
      network.ledger.local?.ledger.faults.set({ mirrorDown: false });
      const healed = Math.round(performance.now() - started);
      console.log(`${step.name}, ${fault}: made up for in ${healed} ms, nothing acknowledged lost`);
    });
  }
}

test('afterwards every batch is confirmed once and vouched for, and no record is lost or doubled', async () => {
  await victim.stop();
  await victim.start();
  await everythingDone([victim, atVictim], [peer, atPeer]);
  await Promise.all([victim.stop(), peer.stop()]);
  await requireExactlyOnce([victim, peer], [atVictim, atPeer]);
  const records = atVictim.acknowledged.size + atPeer.acknowledged.size;
  console.log(`${copies} cells, ${records} records acknowledged, lost = 0, doubled = 0`);
});

test.run();

/** The gate of both nodes: fails the armed write of the victim, and keeps a copy of the disk as it is then. */
async function pass(commit: Commit): Promise<void> {
  const row = armed && isVictims(commit) ? rowOfStep(armed.step, commit.operations, armed.after) : undefined;
  if (armed === undefined || row === undefined) return commit.sync();
  const { fault } = armed;
  armed = undefined;
  try {
    await failOnDisk(fault, commit);
  } finally {
    const copy = join(scratch, String(copies++));
    for (const name of ['store', 'keys']) {
      cpSync(join(victim.config.home, name), join(copy, name), { recursive: true });
    }
    failure = { row, copy, acknowledged: new Map(atVictim.acknowledged) };
  }
}

function isVictims({ directory }: Commit): boolean {
  return directory.startsWith(victim.config.home);
}

/** The number that the step was made for last. */
function reached({ counts, origin }: WriteStep): number {
  const { intake, chains } = victim.context;
  if (counts === 'records') return intake.recorded;
  for (const [id, head] of chains.all()) if (id === origin) return head.batch;
  return 0;
}

/** What a start right after the failure would find. */
async function requireWholeCopy(fault: DiskFault): Promise<Failure> {
  if (failure === undefined) throw new Error('nothing failed');
  const { copy, acknowledged, row } = failure;
  await requireWholeHome(copy);
  const isHeld = await inspect(copy, async (store) => {
    await atVictim.requireIn(store, acknowledged);
    return holdsRow(store, markOf(row));
  });
  assert.is(isHeld, fault === 'unsynced');
  return failure;
}
