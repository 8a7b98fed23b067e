import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Store } from '../../node/store/store.ts';
import { tearLog } from '../fixtures/store-log.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { everythingDone, requireExactlyOnce } from './aftermath.ts';
import type { DeathMark, Moment } from './death.ts';
import { Submissions } from './submissions.ts';
import { VictimProcess } from './victim-process.ts';
import { holdsRow, inspect, requireWholeHome } from './whole-home.ts';
import { PEER, type StepName, VICTIM, WRITE_STEPS, writeStep } from './write-path.ts';

interface Kill {
  readonly name: string;
  /** Null: the parent kills the process when it has answered. */
  readonly step: StepName | null;
  readonly moment: Moment;
}

/** Between two writes one moment stands for all: the disk is the same, though what others know may not be. */
const KILLS: readonly Kill[] = [
  { name: 'record acknowledged', step: null, moment: 'after' },
  { name: 'group signed', step: 'group written', moment: 'during' },
  { name: 'anchor submitted to the ledger', step: 'submission noted', moment: 'during' },
  ...WRITE_STEPS.map(({ name }): Kill => ({ name: `${name}, nobody told`, step: name, moment: 'after' })),
];

/** A node with a peer and a ledger dies at every step of a record's way and goes on from what is on the disk. */
const test = suite('killed');

const scratch = await mkdtemp(join(tmpdir(), 'crash-'));
const markFile = join(scratch, 'mark.json');
const network = await TestNetwork.start({
  nodes: [VICTIM, PEER],
  asleep: [VICTIM],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: 150, logLevel: 'silent' },
});
const { config } = network.node(VICTIM);
const peer = network.node(PEER);
const atVictim = new Submissions(network.node(VICTIM));
const atPeer = new Submissions(peer);
let warmed = 0;
let torn = 0;
let next = warm();

test.after(async () => {
  await next?.[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

for (const [number, kill] of KILLS.entries()) {
  test(kill.name, async () => {
    await using victim = await start();
    await atVictim.submit(`${number}/acknowledged`);
    await die(victim, kill, number);
    await requireWholeHome(config.home);
    await inspect(config.home, async (store) => {
      await atVictim.requireIn(store);
      await requireDiedAt(kill, store);
    });
  });

  if (kill.step !== null && kill.moment === 'after') {
    test(`${writeStep(kill.step).before}, the power gone inside the next write`, async () => {
      const mark = await readMark();
      const copy = join(scratch, 'torn', String(number));
      for (const name of ['store', 'keys']) await cp(join(config.home, name), join(copy, name), { recursive: true });
      tearLog(join(copy, 'store'), mark.logBytes);
      await requireWholeHome(copy);
      await inspect(copy, async (store) => {
        await atVictim.requireIn(store);
        assert.not(await holdsRow(store, mark));
      });
      torn++;
    });
  }
}

test('afterwards every batch is confirmed once and vouched for, and no record is lost or doubled', async () => {
  const victim = network.node(VICTIM);
  await victim.start();
  await atVictim.repeat();
  await everythingDone([victim, atVictim], [peer, atPeer]);
  await Promise.all([victim.stop(), peer.stop()]);
  await requireExactlyOnce([victim, peer], [atVictim, atPeer]);
  const records = atVictim.acknowledged.size + atPeer.acknowledged.size;
  console.log(
    `${KILLS.length + torn} cells (${KILLS.length} kills at chosen steps, ${torn} with the power gone inside a write), ` +
      `${records} records acknowledged, lost = 0, doubled = 0`,
  );
});

test.run();

/** One process for each kill: undefined where none is left to die. */
function warm(): VictimProcess | undefined {
  return warmed++ < KILLS.length ? new VictimProcess(join(scratch, 'compiled')) : undefined;
}

/** A node on what the last one left, to which its callers have come back. */
async function start(): Promise<VictimProcess> {
  const victim = next;
  if (victim === undefined) throw new RangeError('no process is left');
  // Loads while the other one lives and dies.
  next = warm();
  await rm(markFile, { force: true });
  await victim.start(config, markFile);
  await atVictim.repeat();
  return victim;
}

async function die(victim: VictimProcess, { step, moment }: Kill, number: number): Promise<void> {
  if (step !== null) await victim.dieAt(step, moment);
  const submissions = step !== null && writeStep(step).origin === PEER ? atPeer : atVictim;
  await submissions.submit(`${number}/fatal`);
  await (step === null ? victim.kill() : victim.death());
}

/** Fails unless the disk shows that the process died where it was to die. */
async function requireDiedAt({ step, moment }: Kill, store: Store): Promise<void> {
  if (step === null) return;
  const mark = await readMark();
  const isHeld = await holdsRow(store, mark);
  assert.is(isHeld, moment === 'after', `${mark.key} ${isHeld ? 'is' : 'is not'} on the disk`);
}

async function readMark(): Promise<DeathMark> {
  return JSON.parse(await readFile(markFile, 'utf8'));
}
