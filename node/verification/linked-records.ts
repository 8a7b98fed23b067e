import { isKeyRecordFor } from '../../protocol/evidence/agent.ts';
import { isIncidentAbout } from '../../protocol/evidence/incident.ts';
import { isOverrideOf, twoReviewers } from '../../protocol/evidence/oversight.ts';
import { isEndFor, isStartFor, sessionOf } from '../../protocol/evidence/session.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { linkingIds } from '../records/link-tables.ts';
import { RecordDamagedError, readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';

/** Records that link to one by the same name that are looked at, of any account. */
const MAX_LOOKED_AT = 256;
/** Of these, at most so many overrides and incidents count. */
export const MAX_OVERRIDES = 32;
const MAX_INCIDENTS = 32;
/** A node takes one end of a session; records that came from others are looked at all the same. */
const MAX_SESSION_ENDS = 4;

/** Records of a subject's own account that it names or that name it, as this store has them. */
export interface LinkedRecords {
  /** What the evidence rules read: overrides, the session's start and ends, and the record of the agent's key. */
  readonly evidence: readonly AttestationRecord[];
  readonly incidents: readonly AttestationRecord[];
  /** Whether there are more overrides or incidents than were looked at or count. */
  readonly truncated: boolean;
}

/** Finds linked records, of every node. Nothing is said of whether they hold. */
export async function findLinked(store: Store, subject: AttestationRecord): Promise<LinkedRecords> {
  const [overrides, incidents, session, agent] = await Promise.all([
    findOverrides(store, subject),
    findIncidents(store, subject),
    findSession(store, subject),
    findAgentKey(store, subject),
  ]);
  return {
    evidence: [...overrides.records, ...session, ...agent],
    incidents: incidents.records,
    truncated: overrides.truncated || incidents.truncated,
  };
}

interface Found {
  readonly records: readonly AttestationRecord[];
  readonly truncated: boolean;
}

/** Where there are more than count, two by different persons come first: what they show is lost last. */
async function findOverrides(store: Store, subject: AttestationRecord): Promise<Found> {
  const ids = await linkingIds(store, subject.id, 'original', 'human_override', MAX_LOOKED_AT + 1);
  const all = await readThose(store, ids, (record) => isOverrideOf(subject, record));
  const pair = twoReviewers(all);
  const ordered = [...pair, ...all.filter((override) => !pair.includes(override))];
  return { records: ordered.slice(0, MAX_OVERRIDES), truncated: isTruncated(ids, all, MAX_OVERRIDES) };
}

async function findIncidents(store: Store, subject: AttestationRecord): Promise<Found> {
  const ids = await linkingIds(store, subject.id, 'related', 'incident', MAX_LOOKED_AT + 1);
  const all = await readThose(store, ids, (record) => isIncidentAbout(subject, record));
  return { records: all.slice(0, MAX_INCIDENTS), truncated: isTruncated(ids, all, MAX_INCIDENTS) };
}

async function findSession(store: Store, subject: AttestationRecord): Promise<readonly AttestationRecord[]> {
  const session = sessionOf(subject);
  if (session === undefined) return [];
  const ends = await linkingIds(store, session, 'session', 'session_end', MAX_SESSION_ENDS);
  const others = [session, ...ends].filter((id) => id !== subject.id);
  return readThose(store, others, (record) => isStartFor(subject, record) || isEndFor(subject, record));
}

async function findAgentKey(store: Store, subject: AttestationRecord): Promise<readonly AttestationRecord[]> {
  const { agent } = subject.links;
  if (agent === undefined) return [];
  return readThose(store, [agent], (record) => isKeyRecordFor(subject, record));
}

/** The records of these ids that pass. One that is damaged shows nothing, as if it were not there. */
async function readThose(
  store: Store,
  ids: readonly RecordId[],
  passes: (record: AttestationRecord) => boolean,
): Promise<readonly AttestationRecord[]> {
  const found = await Promise.all(ids.slice(0, MAX_LOOKED_AT).map((id) => readUndamaged(store, id)));
  return found.flatMap((record) => (record !== undefined && passes(record) ? [record] : []));
}

async function readUndamaged(store: Store, id: RecordId): Promise<AttestationRecord | undefined> {
  try {
    return (await readRecord(store, id))?.record;
  } catch (error) {
    if (error instanceof RecordDamagedError) return undefined;
    throw error;
  }
}

function isTruncated(ids: readonly RecordId[], passed: readonly AttestationRecord[], count: number): boolean {
  return ids.length > MAX_LOOKED_AT || passed.length > count;
}
