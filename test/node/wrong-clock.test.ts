import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditEntryTable } from '../../node/accounts/audit-log/audit-tables.ts';
import { readLine } from '../../node/accounts/audit-log/audit-reader.ts';
import { requireWholeHome } from '../crash/whole-home.ts';
import { askedPack, packFile } from '../fixtures/made-pack.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';

const YEARS_MS = 5 * 365 * 86_400_000;
/** Batches are sealed soon, so that no pack waits for long. In milliseconds. */
const SOON_MS = 200;

/** How far the clock of eu is ahead. In milliseconds. */
let ahead = 0;
const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'ca'],
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS },
  overridesOf: (node): { now?: () => number } => (node === 'eu' ? { now: () => Date.now() + ahead } : {}),
});
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

async function lastLineAt(): Promise<string> {
  await node.context.auditLog.flush();
  const rows = await Array.fromAsync(auditEntryTable.under(node.context.store, []));
  const times = rows.flatMap(([, lines]) => lines.map((line) => readLine(line).entry.at));
  return times.toSorted().at(-1) ?? '';
}

test('a node that starts with a clock that is years ahead closes no day, dates no line by it and deletes no pack', async () => {
  const from = new Date(Date.now() - 60_000).toISOString();
  const id = await node.attest({ n: 1 });
  await until('it to be confirmed', async () => (await node.get(`/v1/status/${id}`)).body.status === 'confirmed');
  const { packId } = await askedPack(node, { sources: ['test'], from, to: new Date(Date.now() + 1_000).toISOString() });
  await until('a day to be closed', () => node.context.auditLog.closedThrough !== null);
  const closed = [node.context.auditLog.closedThrough, node.context.settlements.closedThrough];
  await node.stop();
  ahead = YEARS_MS;
  await node.start();
  await until('the clocks of the others', () => node.context.follower.clocks.isOff);
  const refused = await node.post('/v1/attest', { sourceId: 'test', data: {} });
  assert.equal([refused.status, refused.body.code], [503, 'clock-off']);
  await node.stop();
  ahead = 0;
  await node.start();
  await node.attest({ n: 2 });
  assert.equal([node.context.auditLog.closedThrough, node.context.settlements.closedThrough], closed);
  assert.ok((await lastLineAt()) < new Date(Date.now() + 60_000).toISOString());
  assert.ok((await packFile(node, String(packId))).length > 0);
  await node.stop();
  await requireWholeHome(node.config.home);
});

test.run();
