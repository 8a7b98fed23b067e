import type { Logger } from 'pino';
import type { Anchoring } from './anchoring/anchoring.ts';
import type { Federation } from './federation/federation.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { StoredBatch } from './sealing/batch-tables.ts';
import type { Sealer } from './sealing/sealer.ts';

/** Seals what a removed member recorded, and nothing after it: that is still to be decided, and the others name it. */
export function sealLast(sealer: Sealer, log: Logger): void {
  sealer
    .seal()
    .catch((error: unknown) => log.error({ err: error }, 'the last records were not sealed'))
    .finally(() => sealer.halt());
}

/** An own batch is on the disk: ledger and members are told of it. */
export function onSealed(
  batch: StoredBatch,
  metrics: Metrics,
  anchoring: Anchoring,
  federation: Federation,
  log: Logger,
): void {
  metrics.countBatch();
  anchoring.noteSealed();
  federation.announce(batch).catch((error: unknown) => log.error({ err: error }, 'a batch was not announced'));
}
