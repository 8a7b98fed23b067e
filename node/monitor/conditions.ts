import type { Authorities } from '../../protocol/proof/judge.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import type { Alerts } from './alerts.ts';
import type { AuthorityWatch } from './authority-watch.ts';
import type { ChainWatch } from './chain-watch.ts';
import type { OpenBatch } from './state.ts';

/** How long things may take before that is told. In milliseconds. */
export interface Patience {
  /** From sealing to the ledger. */
  readonly anchorMs: number;
  /** From the first sight of a batch to its quorum. */
  readonly quorumMs: number;
  /** Until nodes show what the ledger names. */
  readonly bodyMs: number;
}

/** Says what keeps a chain's batches open. `atEnd`: the ledger was read to its end, so that an absence counts. */
export function seeChain(
  chain: ChainWatch,
  authorities: Authorities,
  alerts: Alerts,
  { now, patience, atEnd }: { readonly now: number; readonly patience: Patience; readonly atEnd: boolean },
): void {
  const { node } = chain;
  if (chain.tainted) alerts.see('chain-tainted', node, `the chain is trusted up to batch ${chain.head} at most`, now);
  for (const open of chain.open) {
    const subject = `${node}/${open.batch}`;
    const named = authorities.rosters.version(open.roster);
    if (named?.members.some((member) => member.node === node) !== true) {
      alerts.see('not-a-member', subject, `roster ${open.roster} is not known, or does not name ${node}`, now);
    }
    if (open.anchoredAt === null && atEnd && now - Date.parse(open.sealedAt) > patience.anchorMs) {
      alerts.see('anchor-missing', subject, `sealed ${open.sealedAt} and not on the ledger`, now);
    }
    if (!isWitnessed(open, authorities) && now - open.seenAt > patience.quorumMs) {
      const detail = `${open.witnesses.length} of ${named?.quorum ?? 'an unknown number of'} cosignatures`;
      alerts.see('quorum-missing', subject, detail, now);
    }
  }
  for (const { batch, consensus } of chain.ahead) {
    const at = Date.parse(timestampOfConsensus(consensus));
    if (now - at <= patience.bodyMs) continue;
    alerts.see('batch-missing', `${node}/${batch}`, `on the ledger since ${consensus} and shown by no node`, now);
  }
  for (const { batch, envelope } of chain.foreign) {
    alerts.see('foreign-anchor', `${node}/${batch}`, `the ledger names ${envelope}, which no node shows`, now);
  }
}

/** Says what nodes keep back that the ledger names, and which rosters compete. */
export function seeAuthorities(authority: AuthorityWatch, alerts: Alerts, now: number, patience: Patience): void {
  for (const { statement, type, node, seenAt } of authority.awaited) {
    if (now - seenAt <= patience.bodyMs) continue;
    alerts.see('statement-withheld', statement, `the ledger names this ${type} of ${node}; no node shows it`, now);
  }
  if (authority.rivals.length > 0) {
    const detail = `${authority.rivals.length} signed by a quorum beside those in force`;
    alerts.see('roster-rival', 'rosters', detail, now);
  }
}

/** Whether as many members besides the origin cosigned as the batch's roster asks for. */
export function isWitnessed({ roster, witnesses }: OpenBatch, { rosters }: Pick<Authorities, 'rosters'>): boolean {
  const named = rosters.version(roster);
  return named !== undefined && witnesses.length >= Math.min(named.quorum, named.members.length - 1);
}
