import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readHead } from '../../../../node/records/batch-tables.ts';
import { LEDGER_LIMIT_MS } from '../../../../node/federation/start/node-start.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { freePort } from '../../../fixtures/ports.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { healthOf, signerOf, waitsOf } from './starting.ts';

const EU = nodeId('eu');

test('a copy that is started beside its running node signs nothing, and says that another one signs in its name', async () => {
  const clock = { passed: 0 };
  await using network = await TestNetwork.start({
    nodes: ['eu', 'us', 'jp'],
    quorum: 1,
    ledger: 'local',
    overrides: { monotonic: () => clock.passed },
  });
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  await eu.attest({ input: 1 });
  await eu.seal();
  for (const node of [us, jp]) await until('the batch', () => node.context.chains.head(EU).batch === 1);
  await jp.stop();

  const home = await mkdtemp(join(tmpdir(), 'meridian-twin-'));
  await cp(eu.config.home, home, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  const [httpPort, peerPort] = [await freePort(), await freePort()];
  const { http } = eu.config;
  await using copy = new TestNode(
    { ...eu.config, home, http: { ...http, port: httpPort }, peerListen: [`/ip4/127.0.0.1/tcp/${peerPort}`] },
    { monotonic: () => clock.passed },
  );
  const given = new AbortController();
  const starting = copy.start(given.signal).then(
    () => 'it signs',
    () => 'given up',
  );
  await until('it to wait for jp alone', async () => (await waitsOf(copy)).join() === 'members');

  // The first goes on meanwhile.
  const id = await eu.attest({ input: 2 });
  await eu.seal();
  await until('the copy to see what it did not seal', async () => (await waitsOf(copy)).includes('other'));
  clock.passed = LEDGER_LIMIT_MS;
  await until('nothing else to be waited for', async () => (await waitsOf(copy)).join() === 'other');
  const [wait] = (await healthOf(copy)).waits;
  assert.equal(wait, {
    ...wait,
    for: 'other',
    batch: 2,
    sealedAt: (await readHead(us.context.store, EU))?.envelope.sealedAt,
  });
  assert.is(await signerOf(copy), '503 recovering');
  assert.is((await copy.post('/v1/attest', { sourceId: 'test', data: { input: 3 } })).status, 503);
  await until(
    'the record of the first is verified',
    async () => (await eu.get(`/v1/verify/${id}`)).body.verified === true,
  );
  assert.equal([eu.context.federation.halted, us.context.equivocations.all()], [null, []]);

  given.abort();
  assert.is(await starting, 'given up');
  await copy.stop();
  await rm(home, { recursive: true });
});

test.run();
