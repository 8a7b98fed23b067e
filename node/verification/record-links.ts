import { MAX_OTHERS } from '../../protocol/api/verify.ts';
import { isIncidentAbout } from '../../protocol/evidence/incident.ts';
import { type LinkedRecord, speakingFor } from '../../protocol/evidence/linked-record.ts';
import { isOverrideOf } from '../../protocol/evidence/oversight.ts';
import { sessionOf } from '../../protocol/evidence/session.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { RecordKind } from '../../protocol/statement/vocabulary.ts';

/** A linked record that counts for nothing, and the node that says so. */
export interface OtherRecord {
  readonly id: RecordId;
  readonly kind: RecordKind;
  readonly node: NodeId;
}

/** What anyone may know of the records linked to one: how many that hold, and their ids. Nobody is named. */
export interface RecordLinks {
  readonly overrides: number;
  readonly incidents: number;
  /** Whether it was made in a session. */
  readonly session: boolean;
  readonly ids: readonly RecordId[];
  /** Those that hold and are said to be of its account, by nodes that do not speak for the account. */
  readonly others: readonly OtherRecord[];
  /** Whether there are more than were counted. */
  readonly truncated: boolean;
}

/** Counts the linked records of the subject's account that hold and whose nodes speak for the account. */
export function recordLinks(
  subject: AttestationRecord,
  linked: readonly LinkedRecord[],
  truncated: boolean,
): RecordLinks {
  const speaking = speakingFor(subject, linked);
  const others = linked.filter(({ record, holds, speaks }) => holds && !speaks && record.account === subject.account);
  return {
    overrides: speaking.filter((record) => isOverrideOf(subject, record)).length,
    incidents: speaking.filter((record) => isIncidentAbout(subject, record)).length,
    session: sessionOf(subject) !== undefined,
    ids: speaking.map(({ id }) => id),
    others: others.slice(0, MAX_OTHERS).map(({ record: { id, kind, node } }) => ({ id, kind, node })),
    truncated: truncated || others.length > MAX_OTHERS,
  };
}
