import { type ChainState, leastFrom } from './chain-state.ts';
import type { Envelope } from './envelope.ts';
import { ChainRefusal } from './refusal.ts';

/** Records of one batch at most: what deriving a batch holds in memory. */
export const MAX_BATCH_RECORDS = 65_536;

/**
 * Why an envelope, signed or only drafted, does not go on from this state of its chain; null where it does. The rules
 * of ranges, `prev` and times that need neither signatures nor records (protocol §4, §6).
 */
export function envelopeFits(state: ChainState, envelope: Envelope): ChainRefusal | null {
  const { node, batch, first, size, prev, from, sealedAt } = envelope;
  if (node !== state.node) return new ChainRefusal('node-mismatch', `an envelope of ${node}, not of ${state.node}`);
  if (batch !== state.batch + 1) return new ChainRefusal('batch-mismatch', `batch ${batch} after ${state.batch}`);
  if (size > MAX_BATCH_RECORDS) return new ChainRefusal('batch-too-large', `${size} records`);
  if (first !== state.next) return new ChainRefusal('range-gap', `begins at ${first} in place of ${state.next}`);
  if (prev !== state.prev) return new ChainRefusal('prev-mismatch', 'names another envelope before it');
  if (sealedAt < from) return new ChainRefusal('sealed-before-from', `sealed at ${sealedAt}, before ${from}`);
  if (Date.parse(from) < leastFrom(state)) return new ChainRefusal('from-too-early', `${from}, after ${state.since}`);
  return null;
}
