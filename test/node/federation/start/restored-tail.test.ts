import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readBatch } from '../../../../node/records/batch-tables.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { CHAIN_TABLES, rowsOf } from '../member-fixture.ts';

const EU = nodeId('eu');
/** Instead of ten minutes. In milliseconds. */
const SOON_MS = 400;
/** Of the home, what a restored copy brings back. */
const COPIED = ['store', 'keys'];

/** The first home of a node, put aside and brought back later. */
async function copyOf(node: TestNode): Promise<{ readonly restore: () => Promise<void> } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-tail-'));
  const { home } = node.config;
  for (const name of COPIED) await cp(join(home, name), join(folder, name), { recursive: true });
  return {
    async restore() {
      for (const name of COPIED) {
        await rm(join(home, name), { recursive: true });
        await cp(join(folder, name), join(home, name), { recursive: true });
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function verified(ids: readonly string[], nodes: readonly TestNode[]): Promise<void> {
  for (const id of ids) {
    for (const node of nodes) {
      const isVerified = async () => (await node.get(`/v1/verify/${id}`)).body.verified === true;
      await until(`${id} is verified at ${node.config.id}`, isVerified);
    }
  }
}

test('a restored copy whose last batches were signed anew and decided while it was away goes on from them, and loses nothing', async () => {
  let mayRescue = false;
  // eu pays for nothing: what it seals is named by the others, once they may.
  await using network = await TestNetwork.start({
    nodes: ['eu', 'us', 'ca'],
    quorum: 2,
    ledger: 'local',
    ledgerConfigOf: (node): { spend?: { transactionsPerHour: number } } =>
      node === 'eu' ? { spend: { transactionsPerHour: 0 } } : {},
    overrides: { rescue: { afterMs: SOON_MS, mayRescue: () => mayRescue } },
  });
  const [eu, us, ca] = [network.node('eu'), network.node('us'), network.node('ca')];
  const all = [eu, us, ca];
  const headOf = (node: TestNode) => node.context.chains.head(EU).batch;
  const decided = (node: TestNode) => node.context.federationLog.state.members.eu?.last?.batch ?? 0;
  const ids: string[] = [];
  for (let i = 1; i <= 2; i++) {
    ids.push(await eu.attest({ i }));
    await eu.seal();
  }
  // Recorded, and not sealed yet.
  ids.push(await eu.attest({ i: 3 }));
  await until('us and ca hold both', () => [us, ca].every((node) => headOf(node) === 2));
  await using copy = await copyOf(eu);
  const old = await readBatch(eu.context.store, EU, 2);

  const { replacedBy } = await eu.context.ownKeys.revoke(eu.context.ownKeys.keyId, timestampOf(0), 'stolen');
  const isAnew = async (node: TestNode) => (await readBatch(node.context.store, EU, 2))?.envelope.keyId === replacedBy;
  for (const node of all) await until(`${node.config.id} holds the new`, () => isAnew(node));
  ids.push(await eu.attest({ i: 4 }));
  await eu.seal();
  await until('us and ca hold what follows', () => [us, ca].every((node) => headOf(node) === 3));
  mayRescue = true;
  await until('all is decided', () => all.every((node) => decided(node) === 3));
  await eu.stop();

  await copy.restore();
  await eu.start();
  assert.is(eu.context.federation.halted, null);
  assert.is(headOf(eu), 3);
  const chain = async ({ context }: TestNode) =>
    rowsOf(
      context.store,
      CHAIN_TABLES.map((table) => `${table}/eu`),
    );
  assert.equal(await chain(eu), await chain(us), 'every receipt and envelope is the decided one');
  assert.not.equal(await readBatch(eu.context.store, EU, 2), old);
  await verified(ids, all);
  assert.equal(eu.context.vouching.underived, []);
  const next = await eu.attest({ i: 5 });
  await eu.seal();
  await verified([next], all);
  for (const node of all) assert.equal(node.context.equivocations.all(), []);
});

test.run();
