import type { ServerResponse } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PublicNode, PublicNodeError } from '../../../node/federation/public-node.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { fc } from '../../fixtures/properties.ts';
import { until } from '../../fixtures/until.ts';
import { type Change, codes, WatchedWorld } from './watched-world.ts';

/** Stands in for ten seconds. */
const TIMEOUT_MS = 150;
const BUDGET_MS = 400;

const world = await WatchedWorld.create();
for (const node of ['eu', 'us', 'jp', 'eu']) await world.seal(node);
test.after(() => world[Symbol.asyncDispose]());
test.after.each(() => {
  world.changes.clear();
  world.ahead += 60_000;
});

/** Starts an answer that has no end; it stops where nobody reads. */
function flood(response: ServerResponse): null {
  const part = Buffer.alloc(1 << 16, ' ');
  const more = () => {
    while (!response.destroyed && response.write(part));
    if (!response.destroyed) response.once('drain', more);
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  more();
  return null;
}

/** What goes wrong with `eu` must be told of it alone, and all else be read to its end. */
async function pollWith(change: Change): Promise<string[]> {
  world.changes.set('eu', change);
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  await monitor.poll();
  const heads = monitor.heads.map(({ node, batch, open }) => `${node} ${batch} ${open}`).toSorted();
  assert.equal(heads, ['eu 2 0', 'jp 1 0', 'us 1 0']);
  assert.equal(monitor.proofs, []);
  for (const { subject } of monitor.alerts) assert.ok(subject.startsWith(world.url('eu')), subject);
  return monitor.alerts.map(({ code }) => code);
}

test('an answer without end is cut off', async () => {
  assert.equal(await pollWith((_path, _body, response) => flood(response)), ['node-failing']);
});

test('a node that is not JSON, of another shape, or nested without end lies', async () => {
  const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  for (const text of ['no JSON', '{}', '[]', '{"success":true,"success":true}', nested]) {
    assert.equal(await pollWith(() => text), ['node-lies'], text.slice(0, 20));
  }
});

test('a node whose signatures do not hold lies', async () => {
  const none = encodeSignature(new Uint8Array(3309));
  const change: Change = (path, body) =>
    path === '/v1/federation' || path.startsWith('/v1/log/tile')
      ? body
      : JSON.stringify(body, (name, value: unknown) => (name === 'signature' ? none : value));
  assert.equal(await pollWith(change), ['node-lies']);
});

test('a node that says it has heads and shows nothing keeps no round from its end, and costs the others nothing', async () => {
  const change: Change = (path, body) => {
    if (path === '/v1/federation') {
      return JSON.stringify(body, (name, value: unknown) => (name === 'head' ? { batch: 9_000_000 } : value));
    }
    return path.startsWith('/v1/chains') ? { ...body, batches: [] } : body;
  };
  const before = world.asked.length;
  assert.equal(await pollWith(change), []);
  const asked = world.asked.slice(before).filter((path) => path.startsWith('us ')).length;
  assert.ok(asked < 30, `${asked} requests to another node`);
});

test('what a node adds to its federation page, or says there in another form, blinds nobody', async () => {
  for (const other of [
    { topic: 7, log: [], members: 'none', roster: null },
    { topic: { agreed: null } },
    { more: {} },
  ]) {
    assert.equal(await pollWith((path, body) => (path === '/v1/federation' ? { ...body, ...other } : body)), []);
  }
});

test('pages without end are read to a bound', async () => {
  const change: Change = (path, body) => {
    return path.startsWith('/v1/signing-keys') || path.startsWith('/v1/equivocations')
      ? { ...body, nextCursor: 'more' }
      : body;
  };
  const before = world.asked.length;
  assert.equal(await pollWith(change), []);
  const asked = world.asked.slice(before).filter((path) => path.startsWith('eu ')).length;
  assert.ok(asked < 80, `${asked} requests`);
});

test('a node that asks for patience or answers with errors fails, and is left alone for a minute', async () => {
  for (const status of [429, 500, 302]) {
    const change: Change = (_path, _body, response) => {
      response.writeHead(status, { location: world.url('us') }).end();
      return null;
    };
    const before = world.asked.length;
    assert.equal(await pollWith(change), ['node-failing']);
    const asked = world.asked.slice(before).filter((path) => path.startsWith('eu '));
    assert.is(asked.length, status === 429 ? 1 : 2);
    world.ahead += 60_000;
  }
});

test('a node that is slow in every answer takes no more of a round than there is for it', async () => {
  world.changes.set('eu', () => null);
  const options = { now: () => world.now, signal: new AbortController().signal };
  const node = new PublicNode(world.url('eu'), { ...options, timeoutMs: TIMEOUT_MS, budgetMs: BUDGET_MS });
  const failures: string[] = [];
  for (let asked = 0; asked < 10; asked++) {
    await node.federation().catch((error: unknown) => {
      assert.instance(error, PublicNodeError);
      if (error instanceof PublicNodeError) failures.push(error.code);
    });
  }
  assert.equal([failures[0], failures.at(-1)], ['unreachable', 'slow']);
  // Timers are a little early now and then.
  const most = Math.ceil(BUDGET_MS / TIMEOUT_MS) + 2;
  assert.ok(failures.filter((code) => code === 'unreachable').length <= most, failures.join());
  world.changes.delete('eu');
  await until('it answers in a later round', async () => {
    node.beginPoll();
    return (await node.federation().catch(() => null))?.node === 'eu';
  });
});

test('a hostile mirror without end stops nothing either', async () => {
  const honest = [world.url('mirror-1'), world.url('mirror-2')];
  world.changes.set('mirror-2', (_path, _body, response) => flood(response));
  await using watched = await world.watch({ mirrors: honest });
  const { monitor, events } = watched;
  await monitor.poll();
  assert.equal([codes(events), monitor.topicSequence], [['alert mirror-failing'], 4]);
});

test('whatever is altered in an answer, a round ends, and nobody is proven to have done wrong', async () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant([]), fc.constant({}), fc.double());
  const altered = fc.record({ at: fc.nat(400), value, name: fc.constantFrom('eu', 'mirror-1') });
  await fc.assert(
    fc.asyncProperty(altered, async ({ at, value: other, name }) => {
      world.ahead += 60_000;
      world.changes.set(name, (_path, body) => {
        let place = 0;
        return JSON.stringify(body, (_name, old: unknown) => (place++ === at ? other : old));
      });
      await using watched = await world.watch();
      await watched.monitor.poll();
      assert.equal(watched.monitor.proofs, []);
      world.changes.clear();
    }),
    { numRuns: 30 },
  );
});

test.run();
