import type { Sealer } from './sealing/sealer.ts';
import { IntakeError } from './intake-error.ts';

/** How far the clock may lie before the last record; it then stands still. In milliseconds. */
const SLACK_MS = 2 * 60_000;

export interface RecordTimeOptions {
  readonly now: () => number;
  /** Whether most members' clocks differ from this one's. */
  readonly isClockOff: () => boolean;
  readonly sealer: Pick<Sealer, 'leastFrom' | 'seal' | 'unsealedFrom'>;
}

/** What the clock says, or the time of the last record where it lies a little before that. In epoch milliseconds. */
export function steadyTime(now: number, last: number): number {
  return now < last && now >= last - SLACK_MS ? last : now;
}

/**
 * When records from `first` on are submitted, in epoch milliseconds, given the time of the records before: such that
 * the batch that will hold them has every record within its times, and begins where the one before allows it (protocol
 * §6). Throws `IntakeError` `clock-off` where the clock gives no such time now, or is not to be believed.
 */
export function recordTime({ now, isClockOff, sealer }: RecordTimeOptions, first: number, last: number): number {
  if (isClockOff()) throw clockOff('most members’ clocks differ from this one by minutes');
  const steady = steadyTime(now(), last);
  if (first > sealer.unsealedFrom) {
    if (steady >= last) return steady;
    // The batch that the later records are in ends now; the next one may begin earlier, once the ledger has named it.
    void sealer.seal();
    throw clockOff('the clock lies before records that are not sealed');
  }
  const { leastFrom } = sealer;
  if (leastFrom === null) throw clockOff('the ledger does not name this node as a member yet');
  if (steady < leastFrom) throw clockOff('the clock lies before the last batch');
  return steady;
}

function clockOff(message: string): IntakeError {
  return new IntakeError('clock-off', message);
}
