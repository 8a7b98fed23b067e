import type { AttestationRecord } from '../chain/record.ts';
import type { Timestamp } from '../time.ts';
import type { EventTime, Missing, PeriodOfUse } from './evidence-shape.ts';
import { isEndFor, isStartFor, sessionOf } from './session.ts';

const SECOND_MS = 1000;

/** When the event of a record happened, as its caller asserts it, beside when the record was made. */
export function eventTimeOf({ claims, submittedAt }: AttestationRecord): EventTime {
  const { occurredAt } = claims.asserted ?? {};
  return {
    asserted: occurredAt ?? null,
    recorded: submittedAt,
    lagSeconds: occurredAt === undefined ? null : secondsFrom(occurredAt, submittedAt),
  };
}

/** Whole seconds from one time to another, rounded down: negative where the other comes first. */
export function secondsFrom(from: Timestamp, to: Timestamp): number {
  return Math.floor((Date.parse(to) - Date.parse(from)) / SECOND_MS);
}

/** How a record lies in the session that it names, and what of the session is not on record. */
export interface SessionShown {
  /** Null where it names none. */
  readonly periodOfUse: PeriodOfUse | null;
  readonly missing: readonly Missing[];
}

/**
 * Art. 12(3)(a): start and end of the period of use are on record, and the event lies between them, by its asserted
 * time where it has one, else by the time of the record. `candidates`: the records that may be start or end.
 */
export function sessionShown(record: AttestationRecord, candidates: readonly AttestationRecord[]): SessionShown {
  if (sessionOf(record) === undefined) return { periodOfUse: null, missing: ['session'] };
  const starts = candidates.filter((candidate) => isStartFor(record, candidate));
  const ends = candidates.filter((candidate) => isEndFor(record, candidate));
  const isWithin = (at: Timestamp): boolean => {
    return starts.some((start) => start.submittedAt <= at) && ends.some((end) => at <= end.submittedAt);
  };
  const { asserted, recorded } = eventTimeOf(record);
  const periodOfUse: PeriodOfUse = {
    basis: asserted === null ? 'record-time' : 'asserted-event-time',
    recordTimeWithin: isWithin(recorded),
    eventTimeWithin: asserted === null ? null : isWithin(asserted),
  };
  return { periodOfUse, missing: lackOf(starts, ends, isWithin(asserted ?? recorded)) };
}

function lackOf(
  starts: readonly AttestationRecord[],
  ends: readonly AttestationRecord[],
  isWithin: boolean,
): readonly Missing[] {
  const missing: Missing[] = [];
  if (starts.length === 0) missing.push('session_start');
  if (ends.length === 0) missing.push('session_end');
  return missing.length > 0 || isWithin ? missing : ['time-within-session'];
}
