import { isIncidentAbout } from '../../protocol/evidence/incident.ts';
import { type LinkedRecord, speakingFor } from '../../protocol/evidence/linked-record.ts';
import { isOverrideOf } from '../../protocol/evidence/oversight.ts';
import { sessionOf } from '../../protocol/evidence/session.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';

/** What anyone may know of the records linked to one: how many that hold, and their ids. Nobody is named. */
export interface RecordLinks {
  readonly overrides: number;
  readonly incidents: number;
  /** Whether it was made in a session. */
  readonly session: boolean;
  readonly ids: readonly RecordId[];
  /** Whether there are more than were counted. */
  readonly truncated: boolean;
}

/** Counts the linked records of the subject's account that hold. */
export function recordLinks(
  subject: AttestationRecord,
  linked: readonly LinkedRecord[],
  truncated: boolean,
): RecordLinks {
  const holding = speakingFor(subject, linked);
  return {
    overrides: holding.filter((record) => isOverrideOf(subject, record)).length,
    incidents: holding.filter((record) => isIncidentAbout(subject, record)).length,
    session: sessionOf(subject) !== undefined,
    ids: holding.map(({ id }) => id),
    truncated,
  };
}
