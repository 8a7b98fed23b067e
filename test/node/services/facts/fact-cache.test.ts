import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MirrorError } from '../../../../node/anchoring/ledger/mirror-client.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { FactCache, FactError, type FactSnapshot } from '../../../../node/services/facts/fact-cache.ts';
import { factCatalogue } from '../../../../node/services/facts/fact-catalogue.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { entityId } from '../../../../protocol/ids.ts';
import { fc } from '../../../fixtures/properties.ts';

const TOPIC = entityId('0.0.5001');
const NOW = Date.parse('2026-11-21T09:30:00.000Z');
const SECONDS = BigInt(NOW / 1000);
const NANOS = 1_000_000_000n;

/** What mirrors answer, by path without its query, unless a test says otherwise. */
type Answers = Record<string, unknown>;

interface Setting {
  readonly mirrors?: readonly string[];
  readonly text?: (mirror: string, path: string, signal?: AbortSignal) => Promise<string | null> | string | null;
}

function cache({ mirrors = ['http://one.example'], text }: Setting, clock = { now: NOW }) {
  const asked: string[] = [];
  const facts = new FactCache({
    network: 'local',
    catalogue: factCatalogue(TOPIC),
    mirror: {
      mirrors,
      async text(mirror, path, signal) {
        asked.push(path);
        return (await text?.(mirror, path, signal)) ?? null;
      },
    },
    now: () => clock.now,
    log: pino({ level: 'silent' }),
  });
  return { facts, asked, clock };
}

function answering(answers: Answers): Setting {
  return {
    text: (_mirror, path) => {
      const found = answers[path.split('?')[0] ?? ''];
      return found === undefined ? null : typeof found === 'string' ? found : JSON.stringify(found);
    },
  };
}

const at = (nanos: bigint): string => `${nanos / NANOS}.${String(nanos % NANOS).padStart(9, '0')}`;
const SUPPLY = { total_supply: '5000000000000000000', released_supply: '41', timestamp: at(SECONDS * NANOS) };

async function refused(facts: FactCache, name: FactSnapshot['fact']): Promise<string> {
  try {
    await facts.snapshot(name);
  } catch (error) {
    if (error instanceof FactError && error.cause instanceof Error) return error.cause.message;
    throw error;
  }
  return 'nothing was refused';
}

test('those who ask meanwhile get the same reading, and so does who comes before it is old', async () => {
  const { facts, asked, clock } = cache(answering({ '/network/supply': SUPPLY }));
  const both = await Promise.all([facts.snapshot('supply'), facts.snapshot('supply')]);
  clock.now += 59_999;
  assert.equal(
    [...both, await facts.snapshot('supply')].map(({ observedAt }) => observedAt),
    ['2026-11-21T09:30:00.000Z', '2026-11-21T09:30:00.000Z', '2026-11-21T09:30:00.000Z'],
  );
  assert.is(asked.length, 1);
  clock.now += 1;
  assert.is((await facts.snapshot('supply')).observedAt, '2026-11-21T09:31:00.000Z');
  assert.is(asked.length, 2);
});

test('a mirror that fails, lies about the form or hangs is passed over; where all do, none is told and none is kept', async () => {
  const told = JSON.stringify(SUPPLY);
  const mirrors = ['http://down.example', 'http://odd.example', 'http://good.example/secret'];
  const { facts } = cache({
    mirrors,
    text(mirror) {
      if (mirror.includes('down')) throw new MirrorError('unreachable', 'down');
      return mirror.includes('odd') ? JSON.stringify({ ...SUPPLY, total_supply: 5 }) : told;
    },
  });
  const { source, rawHash } = await facts.snapshot('supply');
  assert.equal([source.endpoint, rawHash], ['http://good.example/api/v1/network/supply', hashText(nativeSuite, told)]);
  let isUp = false;
  const dead = cache({ text: () => (isUp ? told : Promise.reject(new MirrorError('unreachable', 'down'))) });
  assert.is(await refused(dead.facts, 'supply'), 'down');
  isUp = true;
  assert.is((await dead.facts.snapshot('supply')).fact, 'supply');
});

test('amounts beyond the integers of a JSON number are told to the last digit', async () => {
  const node = (id: number, stake: string): string =>
    `{"node_id":${id},"node_account_id":"0.0.${id + 3}","description":null,"stake":${stake}}`;
  const { facts } = cache(
    answering({
      '/blocks': { blocks: [{ timestamp: { to: at(SECONDS * NANOS) } }] },
      '/network/nodes': `{"links":{"next":null},"nodes":[${node(0, '1234567890123456789')},${node(1, '7')},${node(2, 'null')}]}`,
    }),
  );
  const { value } = await facts.snapshot('nodes');
  assert.ok('nodes' in value);
  assert.equal(
    value.nodes.map(({ stakeTinybars }) => stakeTinybars),
    ['1234567890123456789', '7', null],
  );
});

test('pages of nodes that do not get on are refused', async () => {
  const page = (...ids: number[]): unknown => ({
    links: { next: '/api/v1/elsewhere' },
    nodes: ids.map((node_id) => ({ node_id, node_account_id: null, description: null, stake: 0 })),
  });
  const clock = { blocks: [{ timestamp: { to: at(SECONDS * NANOS) } }] };
  const same = cache(answering({ '/blocks': clock, '/network/nodes': page(3, 4) }));
  assert.match(await refused(same.facts, 'nodes'), 'out of order');
  assert.ok(same.asked.every((path) => /^\/(network\/nodes|blocks)\?/.test(path)));
  const endless = cache({
    text: (_mirror, path) => {
      const first = Number(/gte:(\d+)/.exec(path)?.[1] ?? 0);
      const ids = Array.from({ length: 25 }, (_, i) => first + i);
      return JSON.stringify(path.startsWith('/blocks') ? clock : page(...ids));
    },
  });
  assert.match(await refused(endless.facts, 'nodes'), 'more than 300');
});

/** A mirror of blocks, in the pages that a public one gives. */
function blockMirror(blocks: readonly { count: number; number: number; from: bigint; to: bigint }[]): Setting {
  return {
    text: (_mirror, path) => {
      const before = Number(/lt:(\d+)/.exec(path)?.[1] ?? Infinity);
      const page = blocks.filter(({ number }) => number < before).slice(0, 100);
      return JSON.stringify({
        blocks: page.map(({ count, number, from, to }) => ({
          count,
          number,
          timestamp: { from: at(from), to: at(to) },
        })),
      });
    },
  };
}

test('throughput is what the blocks of the last minute count, over the time that they cover', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ count: fc.nat(500), length: fc.integer({ min: 1, max: 5_000 }), gap: fc.nat(4_000) }), {
        minLength: 1,
        maxLength: 300,
      }),
      fc.nat(3),
      async (made, first) => {
        let end = SECONDS * NANOS;
        const blocks = made.map(({ count, length, gap }, i) => {
          const to = end;
          const from = to - BigInt(length) * 1_000_000n;
          end = from - 1n - BigInt(gap) * 1_000_000n;
          return { count, number: first + made.length - 1 - i, from, to };
        });
        const { value } = await cache(blockMirror(blocks)).facts.snapshot('throughput');
        assert.ok('tps' in value);
        const start = SECONDS * NANOS - 60n * NANOS;
        const inside = blocks.filter(({ from }) => from >= start);
        assert.is(
          value.transactionCount,
          inside.reduce((sum, { count }) => sum + count, 0),
        );
        assert.is(value.to, at(SECONDS * NANOS));
        const seconds = Number(BigInt(value.to.replace('.', '')) - BigInt(value.from.replace('.', ''))) / 1e9;
        assert.ok(seconds >= 0 && seconds <= 60);
        if (seconds > 0) assert.ok(Math.abs(value.tps - value.transactionCount / seconds) < 0.001);
        assert.is(value.truncated, inside.length === blocks.length && first !== 0);
      },
    ),
    { numRuns: 50 },
  );
});

test('an idle minute has no transactions, and a mirror that leaves a block out is not believed', async () => {
  const end = SECONDS * NANOS;
  const open = { count: 0, number: 9, from: end - 600n * NANOS, to: end };
  const idle = await cache(blockMirror([open])).facts.snapshot('throughput');
  assert.ok('tps' in idle.value);
  assert.equal([idle.value.transactionCount, idle.value.tps, idle.value.from], [0, 0, at(end - 60n * NANOS)]);
  const block = (number: number, ago: bigint) => ({
    count: 5,
    number,
    from: end - ago * NANOS - NANOS,
    to: end - ago * NANOS,
  });
  assert.match(await refused(cache(blockMirror([block(9, 0n), block(7, 4n)])).facts, 'throughput'), '7 comes before 9');
  assert.match(await refused(cache(blockMirror([block(9, 0n), block(8, 0n)])).facts, 'throughput'), 'overlap');
});

test('what is being read when the book is closed is given up, and no further mirror is asked', async () => {
  const hanging = cache({
    mirrors: ['http://one.example', 'http://two.example'],
    text: (_mirror, _path, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new MirrorError('unreachable', 'given up')));
      }),
  });
  const reading = refused(hanging.facts, 'supply');
  await sleep(0);
  await hanging.facts[Symbol.asyncDispose]();
  assert.equal([await reading, hanging.asked.length], ['given up', 1]);
});

test.run();
