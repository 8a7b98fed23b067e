import type { Logger } from 'pino';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { FederationSync } from '../federation/federation.ts';
import type { HaltReason } from '../federation/own-chain.ts';
import type { Intake } from '../intake/intake.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import type { LogFollower } from '../federation/log-follower.ts';
import type { Sealer } from '../intake/sealing/sealer.ts';

export interface LastRecords {
  readonly intake: Pick<Intake, 'halt'> & AsyncDisposable;
  readonly sealer: Sealer;
  readonly follower: Pick<LogFollower, 'noteSealed'>;
  /** Before its start is over a node does not know how far its chain goes: it calls this again then. */
  readonly start: { readonly pending: boolean };
  readonly log: Logger;
}

/** The node may sign nothing more, but for what a removed one still has to seal. */
export function haltSigning(services: LastRecords, reason: HaltReason): void {
  services.intake.halt(reason === 'closed' ? 'closed' : 'halted');
  if (reason === 'removed') sealLast(services);
  else services.sealer.halt();
}

/**
 * Seals what a removed member recorded, what is being written among it, and nothing after it: that is still to be
 * decided, and the others name it. Call once nothing more is let in.
 */
export function sealLast({ intake, sealer, follower, start, log }: LastRecords): void {
  if (start.pending) return;
  const sealing = async () => {
    await intake[Symbol.asyncDispose]();
    await sealer.seal();
  };
  sealing()
    .catch((error: unknown) => log.error({ err: error }, 'the last records were not sealed'))
    .finally(() => {
      sealer.halt();
      follower.noteSealed();
    });
}

/** An own batch is on the disk: ledger and members are told of it. */
export function onSealed(
  batch: StoredBatch,
  metrics: Metrics,
  anchoring: Anchoring,
  federation: FederationSync,
  log: Logger,
): void {
  metrics.countBatch();
  anchoring.noteSealed();
  federation.announce(batch).catch((error: unknown) => log.error({ err: error }, 'a batch was not announced'));
}
