import type { NodeId } from '../../protocol/ids.ts';
import { neededWitnesses } from '../../protocol/log/roster.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import { rivalNameTable } from '../../node/log/rival-name.ts';
import type { Rows } from '../../node/store/store.ts';
import type { Alerts } from './alerts.ts';
import type { ChainWatch } from './chain-watch.ts';
import type { CheckpointWatch } from './checkpoint-watch.ts';
import type { KeptLog } from './kept-log.ts';
import type { StatementWatch } from './statement-watch.ts';
import type { WatchedNodes } from './watched-nodes.ts';

/** How long things may take before that is told. In milliseconds. */
export interface Patience {
  /** From sealing to the ledger, and from a name to its decision. */
  readonly anchorMs: number;
  /** From the decision of a batch to a quorum that vouches for it. */
  readonly quorumMs: number;
  /** Until nodes show what the ledger decided. */
  readonly bodyMs: number;
  /** Until a member's checkpoint covers what was decided, and the ledger is read as far as a checkpoint. */
  readonly checkpointMs: number;
}

export interface Watched {
  readonly chains: ChainWatch;
  readonly checkpoints: CheckpointWatch;
  readonly statements: StatementWatch;
  readonly nodes: WatchedNodes;
  readonly kept: KeptLog;
  readonly alerts: Alerts;
  readonly now: number;
  readonly patience: Patience;
  /** Whether the ledger was read to its end, so that an absence counts. */
  readonly atEnd: boolean;
}

/** Batches by which a node may say that it is behind before that is told: a few minutes of a busy federation. */
const BEHIND_BATCHES = 32;
const MAX_RIVALS_TOLD = 16;

/** Says what keeps batches from being decided, shown and vouched for. Of each chain the first that waits says all. */
export async function seeChains(watched: Watched): Promise<void> {
  const { chains, nodes } = watched;
  for (const node of chains.nodes) {
    seeUndecided(watched, node);
    await seeUnshown(watched, node);
    await seeUnconfirmed(watched, node);
    seeClosed(watched, node);
  }
  for (const { node: by, view } of nodes.answering) {
    for (const { node, batch } of view.heads) {
      const behind = chains.decided(node) - batch;
      if (behind > BEHIND_BATCHES) {
        watched.alerts.see('node-behind', `${by.url} ${node}`, `${behind} batches`, watched.now);
      }
    }
  }
}

/** Says which numbers nodes named again after they were decided. Of each node the first ones say all. */
export async function seeRivals({
  rows,
  alerts,
  now,
}: Pick<Watched, 'alerts' | 'now'> & { readonly rows: Rows }): Promise<void> {
  const told = new Map<string, number>();
  for await (const [[node = '', batch = ''], { sequence, consensusTimestamp }] of rivalNameTable.under(rows, [])) {
    const before = told.get(node) ?? 0;
    told.set(node, before + 1);
    if (before >= MAX_RIVALS_TOLD) continue;
    const detail = `message ${sequence} of its own account, of ${consensusTimestamp}, names another envelope`;
    alerts.see('rival-named', `${node}/${Number(batch)}`, detail, now);
  }
}

/** Says which revocations in force no node shows. */
export function seeRevocations({ statements, kept, alerts, now, patience }: Watched): Promise<void[]> {
  return Promise.all(
    statements.revocationsInForce().map(async ({ node, keyId, statement, index, shown }) => {
      if (shown !== undefined || !(await isOlder(kept, index, now - patience.bodyMs))) return;
      alerts.see(
        'statement-withheld',
        statement,
        `the ledger revoked ${keyId} of ${node}; no node shows the text`,
        now,
      );
    }),
  );
}

function seeUndecided({ chains, alerts, now, patience, atEnd }: Watched, node: NodeId): void {
  const open = chains.open(node);
  const [first] = open;
  if (first === undefined || !atEnd) return;
  if (now - Math.min(Date.parse(first.sealedAt), first.seenAt) <= patience.anchorMs) return;
  const more = open.length === 1 ? '' : `, and ${open.length - 1} after it`;
  alerts.see('anchor-missing', `${node}/${first.batch}`, `sealed ${first.sealedAt} and not on the ledger${more}`, now);
}

async function seeUnshown({ chains, kept, nodes, alerts, now, patience }: Watched, node: NodeId): Promise<void> {
  const first = chains.shown(node) + 1;
  if (first > chains.decided(node) || nodes.paced) return;
  const decided = await kept.batch(node, first);
  if (decided === undefined || now - timeOf(decided.decision) <= patience.bodyMs) return;
  const { consensusTimestamp } = decided.decision;
  alerts.see(
    'batch-missing',
    `${node}/${first}`,
    `on the ledger since ${consensusTimestamp} and shown by no node`,
    now,
  );
}

async function seeUnconfirmed(watched: Watched, node: NodeId): Promise<void> {
  const { chains, checkpoints, kept, statements, nodes, alerts, now, patience } = watched;
  const [confirmed, last] = [checkpoints.confirmed(node), chains.decided(node)];
  if (confirmed >= last) return;
  const first = confirmed + 1;
  const decided = await kept.batch(node, first);
  // What is trimmed was decided long ago.
  if (decided !== undefined && now - timeOf(decided.decision) <= patience.quorumMs) return;
  const wanted = neededWitnesses(statements.roster);
  alerts.see(
    'quorum-missing',
    `${node}/${first}`,
    `fewer than ${wanted} members vouch for it; ${last - confirmed} batches wait`,
    now,
  );
  const underived = nodes.answering.flatMap(({ view }) => {
    const found = view.underived.find((one) => one.node === node && one.batch === first);
    return found === undefined ? [] : [`${view.node}: ${found.code}`];
  });
  if (underived.length > 0) alerts.see('chain-not-derived', `${node}/${first}`, underived.join(', '), now);
}

function seeClosed({ nodes, alerts, now }: Watched, node: NodeId): void {
  const by = nodes.answering.filter(({ view }) => view.closed.includes(node)).map(({ view }) => view.node);
  if (by.length > 0) alerts.see('chain-closed', node, `say ${by.toSorted().join(', ')}`, now);
}

async function isOlder(kept: KeptLog, index: number, than: number): Promise<boolean> {
  const decision = await kept.decision(index);
  return decision === undefined || timeOf(decision) < than;
}

function timeOf({
  consensusTimestamp,
}: {
  readonly consensusTimestamp: Parameters<typeof timestampOfConsensus>[0];
}): number {
  return Date.parse(timestampOfConsensus(consensusTimestamp));
}
