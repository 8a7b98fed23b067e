import * as assert from 'uvu/assert';
import { equivocationTable } from '../../node/federation/equivocations.ts';
import { DECISION_STATE_ROW, decisionStateTable } from '../../node/log/log-tables.ts';
import { rivalNameTable } from '../../node/log/rival-name.ts';
import { envelopeTable } from '../../node/records/batch-tables.ts';
import type { Store } from '../../node/store/store.ts';
import { nodeId } from '../../protocol/ids.ts';
import { notVerified } from '../fixtures/load.ts';
import { API_KEYS, type TestNode } from '../fixtures/test-node.ts';
import { until } from '../fixtures/until.ts';
import type { Submissions } from './submissions.ts';
import { inspect, requireWholeHome } from './whole-home.ts';
import { PEER, VICTIM } from './write-path.ts';

type RunningMember = readonly [node: TestNode, callers: Submissions];

/** Resolves once every acknowledged record is verified and every batch is vouched for by the other node. */
export async function everythingDone(victim: RunningMember, peer: RunningMember): Promise<void> {
  for (const [{ baseUrl }, { acknowledged }] of [victim, peer]) {
    await until('everything verified', async () => {
      return (await notVerified(baseUrl, [...acknowledged.values()], API_KEYS.unmetered)).length === 0;
    });
  }
  for (const [{ context }] of [victim, peer]) {
    const { chains, vouching } = context;
    await until('everything vouched for', () => {
      const vouched = vouching.vouched();
      return [VICTIM, PEER].map(nodeId).every((node) => (vouched.get(node) ?? 0) === chains.head(node).batch);
    });
  }
}

/**
 * Fails unless all stopped nodes hold every acknowledged record once, the same envelopes, and every batch was named
 * once.
 */
export async function requireExactlyOnce(nodes: readonly TestNode[], callers: readonly Submissions[]): Promise<void> {
  const chains: string[][] = [];
  for (const { config } of nodes) {
    await requireWholeHome(config.home);
    await inspect(config.home, async (store) => {
      assert.is(await equivocationTable.last(store, []), undefined, 'two envelopes were signed for one batch');
      assert.is(await rivalNameTable.last(store, []), undefined, 'two envelopes were named for one batch');
      for (const submissions of callers) await submissions.requireIn(store);
      const state = await decisionStateTable.get(store, DECISION_STATE_ROW);
      assert.is(state?.sequence, state?.size, 'a batch was named twice');
      chains.push(await envelopesIn(store));
    });
  }
  for (const chain of chains) assert.equal(chain, chains[0], 'two envelopes stand for one batch');
}

/** Statements of every chain's envelopes, in order. */
async function envelopesIn(store: Store): Promise<string[]> {
  const statements: string[] = [];
  for await (const [, { statement }] of envelopeTable.under(store, [])) statements.push(statement);
  return statements;
}
