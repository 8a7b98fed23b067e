import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Commit } from '../../../node/store/operation.ts';
import { askedPack, filesOf, packFile, settledPack } from '../../fixtures/made-pack.ts';
import { filesHolding } from '../../fixtures/store-files.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { requireProblem } from '../http/problem-shape.ts';
import { LEAST } from '../http/routes/governance-bodies.ts';

const SECRET = 'Ada Lovelace of Marylebone';
const WHY = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };
/** Batches are sealed soon, so that no pack waits for long. In milliseconds. */
const SOON_MS = 200;

/** Whether the disk refuses the next write that changes a pack. */
let isRefused = false;
const network = await TestNetwork.start({
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS },
  overrides: {
    gate: (commit: Commit) => {
      if (!isRefused || !commit.operations.some(({ key }) => key.startsWith('pack/'))) return commit.sync();
      isRefused = false;
      throw new Error('the disk refused');
    },
  },
});
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

interface Disclosed {
  readonly packId: string;
  readonly attestationId: string;
}

/** A pack that discloses the content of one record. */
async function disclosed(sourceId: string): Promise<Disclosed> {
  const from = new Date(Date.now() - 1_000).toISOString();
  const attestationId = await node.attest({ name: SECRET }, { sourceId });
  await node.seal();
  await until('it to be confirmed', async () => {
    return (await node.get(`/v1/status/${attestationId}`)).body.status === 'confirmed';
  });
  const to = new Date(Date.now() + 1_000).toISOString();
  const pack = await askedPack(node, { sources: [sourceId], from, to, disclosure: true });
  const packId = String(pack.packId);
  assert.ok(await isIn(packId));
  return { packId, attestationId };
}

async function isIn(packId: string): Promise<boolean> {
  const files = await filesOf(await packFile(node, packId));
  return [...files.values()].some((text) => text.includes(SECRET));
}

async function eraseUnnoticed(attestationId: string): Promise<void> {
  isRefused = true;
  const { status, text } = await node.post('/v1/erasures', { ...WHY, attestationIds: [attestationId] });
  assert.is(status, 200, text);
  await until('the disk to have refused', () => !isRefused);
}

test('a pack whose file the disk did not let go of when a content was erased is not given out, and made again', async () => {
  const { packId, attestationId } = await disclosed('not-deleted');
  await eraseUnnoticed(attestationId);
  requireProblem(await node.get(`/v1/evidence-packs/${packId}/file`), 'pack-not-ready', packId);
  assert.is((await settledPack(node, packId)).state, 'ready');
  assert.not(await isIn(packId));
});

test('a node that stopped before a pack with an erased content was deleted deletes it at its next start', async () => {
  const { packId, attestationId } = await disclosed('stopped');
  await eraseUnnoticed(attestationId);
  await node.stop();
  const folder = join(node.config.home, 'packs', packId);
  const secret = Buffer.from(SECRET);
  await node.start();
  await until('its file to be gone', async () => (await filesHolding(folder, secret).catch(() => [])).length === 0);
  assert.is((await settledPack(node, packId)).state, 'ready');
  assert.not(await isIn(packId));
});

test('an erasure that is refused leaves the files of packs where they are', async () => {
  const { packId, attestationId } = await disclosed('locked');
  const lock = { ...LEAST['/v1/retention-lock'], sourceId: 'locked' };
  const locked = await node.post('/v1/retention-lock', lock);
  assert.is(locked.status, 200, locked.text);
  const refused = await node.post('/v1/erasures', { ...WHY, attestationIds: [attestationId] });
  requireProblem(refused, 'retention-locked', refused.text);
  assert.ok(await isIn(packId));
});

test.run();
