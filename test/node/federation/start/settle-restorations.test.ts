import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { settleRestorations } from '../../../../node/federation/start/node-start.ts';
import { readRestorations } from '../../../../node/federation/start/restoration-table.ts';
import { copyStore } from '../../../../node/fsck/backup/copy-store.ts';
import { Store } from '../../../../node/store/store.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';

const [EU, US] = [nodeId('eu'), nodeId('us')];
const TAKEN = Date.UTC(2026, 0, 1);
const NEVER = new AbortController().signal;
const BEGINNING = { batch: 0, next: 1 };

const scratch = await mkdtemp(join(tmpdir(), 'meridian-settle-'));
test.after(() => rm(scratch, { recursive: true, force: true }));

test('a copy of a node that never sealed anything is settled at the beginning of its chain, once', async () => {
  await using source = await Store.open(join(scratch, 'source'));
  const taken = await copyStore(source, join(scratch, 'copy'), EU, () => TAKEN, NEVER);
  assert.equal([taken.held, taken.unsealed], [BEGINNING, 0]);
  await using copy = await Store.open(join(scratch, 'copy'));
  const settle = (self: typeof EU, hours: number) => {
    const now = () => TAKEN + hours * 3_600_000;
    return settleRestorations({ store: copy, self, peers: [US], sequence: 7, now, log: pino({ level: 'silent' }) });
  };
  await settle(US, 1);
  const [open] = await readRestorations(copy, EU);
  assert.equal(open, { takenAt: timestampOf(TAKEN), held: BEGINNING, unsealed: 0, settled: null });
  await settle(EU, 2);
  const settled = { at: timestampOf(TAKEN + 7_200_000), end: BEGINNING, sealedAt: null, peers: ['us'], sequence: '7' };
  assert.equal(await readRestorations(copy, EU), [{ ...open, settled }]);
  const { writes } = copy;
  await settle(EU, 3);
  assert.is(copy.writes, writes, 'what is settled stays as it is');
});

test('a store that is no copy is left as it is', async () => {
  await using store = await Store.open(join(scratch, 'own'));
  await settleRestorations({
    store,
    self: EU,
    peers: [],
    sequence: 1,
    now: () => TAKEN,
    log: pino({ level: 'silent' }),
  });
  assert.is(store.writes, 0);
  assert.is(await store.first({}), undefined);
});

test.run();
