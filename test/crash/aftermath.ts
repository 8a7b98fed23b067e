import * as assert from 'uvu/assert';
import { anchorTable, rivalAnchorTable } from '../../node/anchoring/anchors.ts';
import { equivocationTable } from '../../node/federation/equivocations.ts';
import { nodeId } from '../../protocol/ids.ts';
import { notVerified } from '../fixtures/load.ts';
import { API_KEYS, type TestNode, until } from '../fixtures/test-node.ts';
import type { Submissions } from './submissions.ts';
import { inspect, requireWholeHome } from './whole-home.ts';
import { PEER, VICTIM } from './write-path.ts';

/** Resolves once every acknowledged record is anchored and every batch is cosigned by the other node. */
export async function everythingDone(
  { baseUrl }: TestNode,
  { context }: TestNode,
  atVictim: Submissions,
): Promise<void> {
  await until('everything verified', async () => {
    const missing = await notVerified(baseUrl, [...atVictim.acknowledged.values()], API_KEYS.unmetered);
    return missing.length === 0;
  });
  const { chains, cosignatures } = context;
  const [us, eu] = [nodeId(VICTIM), nodeId(PEER)];
  await until('everything cosigned', () => {
    const isWitnessed = cosignatures.watermark(us, eu) === chains.head(us).batch;
    return isWitnessed && cosignatures.watermark(eu, us) === chains.head(eu).batch;
  });
}

/** Fails unless both stopped nodes hold every acknowledged record once and every batch was anchored once. */
export async function requireExactlyOnce(nodes: readonly TestNode[], callers: readonly Submissions[]): Promise<void> {
  for (const { config } of nodes) {
    await requireWholeHome(config.home);
    await inspect(config.home, async (store) => {
      assert.is(await equivocationTable.last(store, []), undefined, 'two envelopes were signed for one batch');
      assert.is(await rivalAnchorTable.last(store, []), undefined, 'two envelopes were anchored for one batch');
      for (const submissions of callers) await submissions.requireIn(store);
      for await (const [, row] of anchorTable.under(store, [])) {
        assert.equal(row.alsoAnchoredAt, [], `batch ${row.node}/${row.batch} is anchored twice`);
      }
    });
  }
}
