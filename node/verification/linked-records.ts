import { isKeyRecordFor } from '../../protocol/evidence/agent.ts';
import { isIncidentAbout } from '../../protocol/evidence/incident.ts';
import { isOverrideOf, twoReviewers } from '../../protocol/evidence/oversight.ts';
import { isEndFor, isStartFor, sessionOf } from '../../protocol/evidence/session.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { isLinked, linkingIds } from '../records/link-tables.ts';
import type { Reads } from '../store/store.ts';

/** Records that link to one by the same name that are looked at, of any account. */
const MAX_LOOKED_AT = 256;
/** Of these, at most so many overrides and incidents count. */
export const MAX_OVERRIDES = 32;
const MAX_INCIDENTS = 32;
/** A node takes one end of a session; records that came from others are looked at all the same. */
const MAX_SESSION_ENDS = 4;

/** A record that links to one, or is linked to by it, with whatever else was read of it. */
interface Linked {
  readonly record: AttestationRecord;
}

/** Finds records, and what links to what. */
export interface LinkedSources<Found extends Linked> {
  readonly store: Reads;
  /** Undefined where there is none, or one that cannot be read: it shows nothing. */
  readonly read: (id: RecordId) => Promise<Found | undefined>;
}

/** Records of a subject's own account that it names or that name it, as this store has them. */
export interface LinkedRecords<Found extends Linked> {
  /** What the evidence rules read: overrides, the session's start and ends, and the record of the agent's key. */
  readonly evidence: readonly Found[];
  readonly incidents: readonly Found[];
  /** Whether there are more overrides or incidents than were looked at or count. */
  readonly truncated: boolean;
}

/** Finds linked records, of every node. Nothing is said of whether they hold. */
export async function findLinked<Found extends Linked>(
  sources: LinkedSources<Found>,
  subject: AttestationRecord,
): Promise<LinkedRecords<Found>> {
  // Of most records nothing is said: one search tells.
  const naming = isLinked(sources.store, subject.id);
  const [overrides, incidents, session, agent] = await Promise.all([
    naming.then((isNamed) => (isNamed ? findOverrides(sources, subject) : NONE)),
    naming.then((isNamed) => (isNamed ? findIncidents(sources, subject) : NONE)),
    findSession(sources, subject),
    findAgentKey(sources, subject),
  ]);
  return {
    evidence: [...overrides.records, ...session, ...agent],
    incidents: incidents.records,
    truncated: overrides.truncated || incidents.truncated,
  };
}

interface Several<Found extends Linked> {
  readonly records: readonly Found[];
  readonly truncated: boolean;
}

const NONE: Several<never> = { records: [], truncated: false };

/** Where there are more than count, two by different persons come first: what they show is lost last. */
async function findOverrides<Found extends Linked>(
  sources: LinkedSources<Found>,
  subject: AttestationRecord,
): Promise<Several<Found>> {
  const ids = await linkingIds(sources.store, subject.id, 'original', 'human_override', MAX_LOOKED_AT + 1);
  const all = await readThose(sources, ids, (record) => isOverrideOf(subject, record));
  const pair = new Set(twoReviewers(all.map(({ record }) => record)));
  const ordered = [...all.filter(({ record }) => pair.has(record)), ...all.filter(({ record }) => !pair.has(record))];
  return { records: ordered.slice(0, MAX_OVERRIDES), truncated: isTruncated(ids, all, MAX_OVERRIDES) };
}

async function findIncidents<Found extends Linked>(
  sources: LinkedSources<Found>,
  subject: AttestationRecord,
): Promise<Several<Found>> {
  const ids = await linkingIds(sources.store, subject.id, 'related', 'incident', MAX_LOOKED_AT + 1);
  const all = await readThose(sources, ids, (record) => isIncidentAbout(subject, record));
  return { records: all.slice(0, MAX_INCIDENTS), truncated: isTruncated(ids, all, MAX_INCIDENTS) };
}

async function findSession<Found extends Linked>(
  sources: LinkedSources<Found>,
  subject: AttestationRecord,
): Promise<readonly Found[]> {
  const session = sessionOf(subject);
  if (session === undefined) return [];
  const ends = await linkingIds(sources.store, session, 'session', 'session_end', MAX_SESSION_ENDS);
  const others = [session, ...ends].filter((id) => id !== subject.id);
  return readThose(sources, others, (record) => isStartFor(subject, record) || isEndFor(subject, record));
}

async function findAgentKey<Found extends Linked>(
  sources: LinkedSources<Found>,
  subject: AttestationRecord,
): Promise<readonly Found[]> {
  const { agent } = subject.links;
  if (agent === undefined) return [];
  return readThose(sources, [agent], (record) => isKeyRecordFor(subject, record));
}

/** The records of these ids that pass. */
async function readThose<Found extends Linked>(
  { read }: LinkedSources<Found>,
  ids: readonly RecordId[],
  passes: (record: AttestationRecord) => boolean,
): Promise<readonly Found[]> {
  const found = await Promise.all(ids.slice(0, MAX_LOOKED_AT).map(read));
  return found.flatMap((one) => (one !== undefined && passes(one.record) ? [one] : []));
}

function isTruncated(ids: readonly RecordId[], passed: readonly Linked[], count: number): boolean {
  return ids.length > MAX_LOOKED_AT || passed.length > count;
}
