import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hashText } from '../../../protocol/hash.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { monitorCommand } from '../../../scripts/monitor/command.ts';
import { until } from '../../fixtures/until.ts';
import { NODES, WatchedWorld } from './watched-world.ts';

const world = await WatchedWorld.create();
test.after(() => world[Symbol.asyncDispose]());
await world.seal('eu');
await world.seal('us');
const roster = join(world.directory, 'roster.json');
await writeFile(roster, JSON.stringify([world.federation.genesis]));

/** The federation's clock is years away from this machine's: nothing is late but where a test says so. */
const PATIENT = ['anchor', 'quorum', 'shown', 'checkpoint'].flatMap((what) => [`--${what}-within`, '86400']);
const OPTIONS = [
  '--roster',
  roster,
  '--state',
  join(world.directory, 'state'),
  '--proofs',
  join(world.directory, 'proofs'),
  ...NODES.flatMap((node) => ['--node', world.url(node)]),
  ...['mirror-1', 'mirror-2'].flatMap((mirror) => ['--mirror', world.url(mirror)]),
  '--interval',
  '0.05',
  '--json',
  ...PATIENT,
];

interface Run {
  readonly lines: string[];
  readonly end: () => void;
  readonly exit: Promise<number>;
}

function run(...args: readonly string[]): Run {
  const ending = new AbortController();
  const lines: string[] = [];
  const exit = monitorCommand([...OPTIONS, ...args], {
    out: (line) => void lines.push(line),
    err: (line) => void lines.push(line),
    signal: ending.signal,
  });
  return { lines, end: () => ending.abort(), exit };
}

async function told({ lines }: Run, text: string): Promise<void> {
  for (const end = performance.now() + 10_000; !lines.some((line) => line.includes(text));) {
    if (performance.now() > end) throw new Error(`${text} was not told: ${lines.join('\n').slice(0, 500)}`);
    await sleep(10);
  }
}

test('nodes and a mirror that fail do not end it; it ends with 0 when it is told to', async () => {
  world.changes.set('us', (_path, _body, response) => {
    response.destroy();
    return null;
  });
  world.changes.set('mirror-1', () => 'no JSON');
  const running = run('--metrics', '0');
  await told(running, 'node-failing');
  await told(running, 'mirror-failing');
  const [, address = ''] = /(http:\S+)/.exec(running.lines[0] ?? '') ?? [];
  const metrics = await (await fetch(address)).text();
  for (const line of [
    'meridian_monitor_topic_sequence 2',
    'meridian_monitor_proofs 0',
    'meridian_monitor_alerts{code="node-failing"} 1',
    'meridian_monitor_alerts{code="mirror-failing"} 1',
    'meridian_monitor_alerts_dropped 0',
    'meridian_monitor_chain_head_batch{member="eu"} 1',
    'meridian_monitor_open_batches{member="eu"} 0',
    'meridian_monitor_anchor_delay_seconds_count 2',
  ]) {
    assert.match(metrics, line);
  }
  assert.match(metrics, /meridian_monitor_last_poll_timestamp_seconds 1\d{9}/);
  world.changes.clear();
  await told(running, '"kind":"cleared","code":"node-failing"');
  await told(running, '"kind":"cleared","code":"mirror-failing"');
  running.end();
  assert.is(await running.exit, 0);
});

test('with --once it ends with 0 where all is well, and with 3 where a node fails', async () => {
  assert.is(await run('--once').exit, 0);
  world.changes.set('jp', () => 'no JSON');
  assert.is(await run('--once').exit, 3);
  world.changes.clear();
  assert.is(await run('--once').exit, 0);
});

test('a proof of misbehaviour ends it with 1, and is not forgotten', async () => {
  world.lies.set('jp', () => ({ root: hashText(nobleSuite, 'another tree') }));
  await world.seal('us');
  const running = run();
  assert.is(await running.exit, 1);
  assert.ok(running.lines.some((line) => line.includes('"kind":"proof","code":"false-checkpoint"')));
  world.lies.clear();

  // Started again it goes on, and says the same when it is told to end.
  const before = world.asked.length;
  const again = run('--keep-going');
  await until('it goes on', () => world.asked.slice(before).some((path) => path.startsWith('jp /v1/log/checkpoints')));
  again.end();
  assert.is(await again.exit, 1);
  assert.is(await run('--once').exit, 1);
});

test('a folder for proofs that cannot be made ends it before it watches', async () => {
  const { lines, exit } = run('--proofs', roster, '--once');
  assert.is(await exit, 2);
  assert.equal([lines.length, lines[0]?.startsWith(`monitor: ${roster}: EEXIST`)], [1, true], lines.join('\n'));
});

test('a state that cannot be written ends it with 2, and so does a command that there is not', async () => {
  assert.is(await run('--state', join(roster, 'state')).exit, 2);
  assert.is(await run('verify').exit, 2);
});

test.run();
