import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ClusterClient } from '../../../scripts/bench/federation/cluster-client.ts';
import type { Round } from '../../../scripts/bench/http/round.ts';
import { requireRecorded } from '../../../scripts/bench/peers/bulk-route.ts';
import { buildTessera } from '../../../scripts/bench/peers/tessera.ts';
import { compare, HEAD, type Way } from '../../../scripts/bench/peers/ways.ts';

const TWO_ROUNDS = { rounds: 2, seconds: 1 };
const { signal } = new AbortController();

test('servers are measured in turns, and ratios are of the rounds of one turn', async () => {
  const said: string[] = [];
  const ways = [
    way('ours', [round({ perSecond: 100 }), round({ perSecond: 300 })]),
    way('theirs', [round({ perSecond: 200, failed: 2 }), round({ perSecond: 200 })]),
  ];
  const { rows, failed } = await compare({ load: 'some', ways }, TWO_ROUNDS, {
    signal,
    say: (line) => void said.push(line),
  });
  assert.equal(said, ['ours, some: 100/s', 'theirs, some: 200/s', 'ours, some: 300/s', 'theirs, some: 200/s']);
  assert.is(failed, 2);
  const [ours = [], theirs = []] = rows;
  assert.equal(ours.slice(0, 4), ['ours', 'some', '200', '']);
  assert.equal(theirs.slice(0, 4), ['theirs', 'some', '200', '1.00×']);
  assert.is(ours.length, HEAD.length);
});

test('without Go, and without its modules, Tessera is skipped with a reason', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bench-tessera-'));
  try {
    assert.equal(await buildTessera(directory, signal, { PATH: directory }), { skipped: 'there is no go on the PATH' });
    const none = {
      ...process.env,
      GOPROXY: 'off',
      GOMODCACHE: join(directory, 'modules'),
      GOCACHE: join(directory, 'built'),
    };
    const build = await buildTessera(directory, signal, none);
    assert.match('skipped' in build ? build.skipped : '', /^(?:there is no go on the PATH|go build failed: .)/);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a build that is interrupted is no reason to skip', async () => {
  const failure: unknown = await buildTessera(tmpdir(), AbortSignal.abort()).catch((error: unknown) => error);
  assert.instance(failure, Error);
});

test('a batch must record every record that it is sent', async () => {
  await requireBatch(3);
  const failure: unknown = await requireBatch(2).catch((error: unknown) => error);
  assert.match(String(failure), /recorded 2 of 3 records/);
});

test.run();

function way(server: string, rounds: readonly Round[]): Way {
  let next = 0;
  return {
    server,
    pid: process.pid,
    hasMainThread: true,
    run: async () => rounds[next++] ?? round({}),
  };
}

function round(given: Partial<Round>): Round {
  return { records: 1, failed: 0, perSecond: 1, p50: 1, p99: 1, main: 1, all: 1, ...given };
}

/** Asks a node for three records, of which it records so many. */
async function requireBatch(recorded: number): Promise<void> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<object> => {
      const sent: unknown = await readJson(request);
      const length = Array.isArray(sent) ? sent.length : 0;
      return {
        results: Array.from({ length }, (_, i) =>
          i < recorded ? { attestationId: `att_${i}` } : { code: 'invalid-field' },
        ),
      };
    };
    void answer().then((body) => response.end(JSON.stringify(body)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  using client = new ClusterClient('key');
  try {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await requireRecorded(client, `http://127.0.0.1:${port}`, 3);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
