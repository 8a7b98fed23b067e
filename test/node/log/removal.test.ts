import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isReleased, type Release, removalOf } from '../../../node/log/removal.ts';
import type { LogRoster } from '../../../node/log/log-rosters.ts';
import { type KnownCheckpoint, readCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';

const log = await FederationLog.create({ nodes: ['eu', 'us', 'jp', 'za'], quorum: 1 });
const [EU, ZA] = [nodeId('eu'), nodeId('za')];
await log.record('za');
await log.record('eu');
const early = await read('us');
log.addRoster({ members: log.membersWith([], ['za']) });
const removedAt = log.size - 1;

test('a node ceased to be a member where the last roster that names it was replaced', async () => {
  const rosters = (count: number): LogRoster[] =>
    log.rosters.slice(0, count).map(({ roster, index }, i) => ({
      roster,
      from: index,
      until: log.rosters.slice(0, count)[i + 1]?.index ?? null,
    }));
  assert.is(removalOf(rosters(1), ZA), null);
  assert.is(removalOf(rosters(2), ZA), removedAt);
  assert.is(removalOf(rosters(2), EU), null);
  assert.is(removalOf(rosters(2), nodeId('xx')), null);
});

test('it may stop once all that it recorded is decided, and a majority of those in force say all that it does', async () => {
  const [own, eu, us] = [await read('za'), await read('eu'), await read('us')];
  const lesser = readCheckpoint(await log.checkpoint('us', { vouched: { za: 1 } }));
  const earlier = readCheckpoint(await log.checkpoint('us', { vouched: { eu: 1 } }));
  const brief = readCheckpoint(await log.checkpoint('za', { vouched: { eu: 1 } }));
  assert.ok(released([own, eu, us]));
  assert.not.ok(released([own, eu]), 'one of three');
  assert.not.ok(released([own, eu, early]), 'one does not cover the removal');
  assert.not.ok(released([own, eu, lesser]), 'one does not vouch for all');
  assert.not.ok(released([brief, eu, earlier]), 'one does not vouch for its last batch');
  assert.not.ok(released([own, eu, us], { unsealed: 1 }), 'a record is in no batch');
  assert.not.ok(released([eu, us]), 'it has not said its last word');
  assert.not.ok(released([own, eu, us], { sealed: 2 }), 'a batch is not decided');
});

function released(checkpoints: readonly KnownCheckpoint[], change: Partial<Release> = {}): boolean {
  const checkpointStore = {
    all: () => checkpoints,
    newest: (node: string) => checkpoints.find(({ checkpoint }) => checkpoint.node === node),
  };
  return isReleased({
    self: ZA,
    removedAt,
    checkpointStore,
    roster: log.roster().roster,
    sealed: 1,
    decided: 1,
    unsealed: 0,
    ...change,
  });
}

async function read(node: string): Promise<KnownCheckpoint> {
  return readCheckpoint(await log.checkpoint(node));
}

test.run();
