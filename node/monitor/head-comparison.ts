import type { Alerts } from './alerts.ts';
import { type ChainReading, headOf } from './chain-reading.ts';
import type { ChainWatch } from './chain-watch.ts';
import type { Faces, Shown } from './faces.ts';

export interface HeadComparison {
  readonly faces: Faces;
  readonly reading: ChainReading;
  readonly alerts: Alerts;
  readonly now: () => number;
}

/** Batches by which a node may be behind before that is told: a few minutes of a busy federation. */
const BEHIND_BATCHES = 32;

/**
 * What nodes say of heads is not signed: where it differs from what was read, a node must show the envelope itself, and
 * what it shows is compared with what all others do.
 */
export async function compareHeads(comparison: HeadComparison, chains: Iterable<ChainWatch>): Promise<void> {
  const { faces, alerts, now } = comparison;
  for (const chain of chains) {
    if (chain.tainted) continue;
    for (const shown of faces.shown) {
      const behind = chain.head - (headOf(shown, chain.node)?.batch ?? chain.head);
      const subject = `${shown.face.url} ${chain.node}`;
      if (behind > BEHIND_BATCHES) alerts.see('node-behind', subject, `${behind} batches`, now());
      await requireShown(comparison, chain, shown);
    }
  }
}

async function requireShown({ reading, alerts, now }: HeadComparison, chain: ChainWatch, shown: Shown): Promise<void> {
  const { face } = shown;
  const { node } = chain;
  const head = headOf(shown, node);
  if (head === undefined || head.envelope === null || head.batch === 0) return;
  const held = chain.hashAt(head.batch);
  if (held === head.envelope || (held === undefined && head.batch <= chain.head)) return;
  const isFurther = head.batch > chain.head;
  // What is still being read, or does not fit in, says nothing of the node.
  if (isFurther && (reading.isUnderWay(node) || chain.isFull)) return;
  const batch = isFurther ? chain.head + 1 : head.batch;
  const found: ReadonlySet<string> | undefined = await reading.shownBy(face, node, batch);
  if (found === undefined) return;
  if (isFurther ? found.size === 0 : !found.has(head.envelope)) {
    const detail = isFurther ? `it shows no batch ${batch}` : `it does not show the envelope ${head.envelope}`;
    alerts.see('head-unproven', `${face.url} ${node}/${head.batch}`, detail, now());
  } else if (!isFurther) await reading.inquire(node, batch);
}
