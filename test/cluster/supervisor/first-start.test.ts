import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_PORT_BASE, planCluster } from '../../../cluster/plan.ts';
import { keepHome, openHome, requirePlanned } from '../../../cluster/supervisor/first-start.ts';
import { ensureKeys, ensureRoster, readRoster } from '../../../cluster/supervisor/genesis.ts';
import { StartError } from '../../../cluster/supervisor/start-error.ts';

const MARK = 'first-start';
/** What a start makes, in order. */
const MADE = ['us/keys/identity.key', 'ledger/operators.json', 'chain/wallets.json', 'mail/mail.log', 'roster.json'];
const LATER = ['us/store/CURRENT', 'jp/store/CURRENT', 'demo-keys.json', 'cluster.json'];
/** Not of the cluster. */
const OTHERS = ['supervisor.pid', 'notes.txt'];

const plan = planCluster(DEFAULT_PORT_BASE);
const scratch = await mkdtemp(join(tmpdir(), 'meridian-homes-'));
let homes = 0;

test.after(() => rm(scratch, { recursive: true, force: true }));

test('what a first start left that ended before a node started is taken away by the next, whatever it came to', async () => {
  const home = await newHome(OTHERS);
  for (let made = 0; made <= MADE.length; made++) {
    await openHome(home, plan, false);
    assert.equal((await readdir(home)).toSorted(), [MARK, ...OTHERS].toSorted(), `after ${made} files`);
    await fill(home, MADE.slice(0, made));
  }
});

test('a home in which a node has started keeps every file, also where that start never came to its end', async () => {
  const home = await newHome([]);
  await openHome(home, plan, false);
  await fill(home, MADE);
  await keepHome(home);
  for (let made = 0; made <= LATER.length; made++) {
    await openHome(home, plan, false);
    for (const file of [...MADE, ...LATER.slice(0, made)]) {
      assert.ok(existsSync(join(home, file)), `${file} of ${made}`);
    }
    assert.not(existsSync(join(home, MARK)));
    await fill(home, LATER.slice(0, made + 1));
  }
});

test('a home that was being forgotten is forgotten by the next start, so that no store outlives its roster', async () => {
  const home = await newHome([...MADE, ...LATER, ...OTHERS]);
  await openHome(home, plan, true);
  // What the forgetting had not come to when it was killed.
  await fill(home, ['us/keys/identity.key', 'us/store/CURRENT']);
  await openHome(home, plan, false);
  assert.equal((await readdir(home)).toSorted(), [MARK, ...OTHERS].toSorted());
});

test('stores whose roster is gone are told of in one line, and kept', async () => {
  const home = await newHome([...MADE, ...LATER]);
  await rm(join(home, 'roster.json'));
  const said = await refusal(openHome(home, plan, false));
  assert.match(said, `${home} has stores of nodes and no roster.json; put it back, or start with --fresh`);
  assert.not.match(said, '\n');
  assert.ok(existsSync(join(home, 'us/store/CURRENT')));
});

test('a home of other ports is told of in one line, for its nodes would look for each other there', async () => {
  const home = await newHome([]);
  const small = { ...plan, nodes: plan.nodes.slice(0, 2) };
  await ensureKeys(home, small);
  const roster = await readRoster(await ensureRoster(home, small, () => Promise.resolve('0.0.5000')));
  requirePlanned(home, small, roster);
  const moved = planCluster(DEFAULT_PORT_BASE + 1_000);
  const said = await refusal(Promise.resolve().then(() => requirePlanned(home, moved, roster)));
  assert.match(said, '(http://127.0.0.1:4101, not http://127.0.0.1:5101)');
});

async function newHome(files: readonly string[]): Promise<string> {
  const home = join(scratch, String(homes++));
  await mkdir(home);
  await fill(home, files);
  return home;
}

async function fill(home: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), file);
  }
}

async function refusal(attempt: Promise<void>): Promise<string> {
  const thrown: unknown = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(thrown, StartError);
  return String(thrown);
}

test.run();
