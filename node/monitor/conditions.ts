import type { Authorities } from '../../protocol/proof/judge.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import type { Alerts, ConditionCode } from './alerts.ts';
import type { AuthorityWatch } from './authority-watch.ts';
import type { ChainWatch } from './chain-watch.ts';

/** How long things may take before that is told. In milliseconds. */
export interface Patience {
  /** From sealing to the ledger. */
  readonly anchorMs: number;
  /** Until nodes show what the ledger names. */
  readonly bodyMs: number;
}

/** Of one chain's anchors or batches of which the same is to be said, the ones that are told: the first say all. */
const MAX_TOLD = 16;

/** Says what keeps a chain's batches open. `atEnd`: the ledger was read to its end, so that an absence counts. */
export function seeChain(
  chain: ChainWatch,
  authorities: Authorities,
  alerts: Alerts,
  { now, patience, atEnd }: { readonly now: number; readonly patience: Patience; readonly atEnd: boolean },
): void {
  const { node } = chain;
  if (chain.tainted) alerts.see('chain-tainted', node, `the chain is trusted up to batch ${chain.head} at most`, now);
  const told = new Map<ConditionCode, number>();
  const see = (code: ConditionCode, batch: number, detail: string) => {
    const before = told.get(code) ?? 0;
    told.set(code, before + 1);
    if (before < MAX_TOLD) alerts.see(code, `${node}/${batch}`, detail, now);
  };
  for (const open of chain.open) {
    const { batch } = open;
    if (authorities.rosters.lastWith(node) === undefined) see('not-a-member', batch, `no roster that is known names ${node}`);
    if (open.anchoredAt === null && atEnd && now - Date.parse(open.sealedAt) > patience.anchorMs) {
      see('anchor-missing', batch, `sealed ${open.sealedAt} and not on the ledger`);
    }
  }
  for (const { batch, consensus } of chain.ahead.all()) {
    const at = Date.parse(timestampOfConsensus(consensus));
    if (now - at <= patience.bodyMs) continue;
    see('batch-missing', batch, `on the ledger since ${consensus} and shown by no node`);
  }
  for (const { batch, envelope } of chain.foreign) {
    see('foreign-anchor', batch, `the ledger names ${envelope}, which no node shows`);
  }
}

/** Says what nodes keep back that the ledger names, and which rosters compete. */
export function seeAuthorities(authority: AuthorityWatch, alerts: Alerts, now: number, patience: Patience): void {
  for (const { statement, type, by, seenAt } of authority.awaited) {
    if (now - seenAt <= patience.bodyMs) continue;
    alerts.see('statement-withheld', statement, `the ledger names this ${type}, by ${by}; no node shows it`, now);
  }
  if (authority.rivals.length > 0) {
    const detail = `${authority.rivals.length} signed by a quorum beside those in force`;
    alerts.see('roster-rival', 'rosters', detail, now);
  }
}
