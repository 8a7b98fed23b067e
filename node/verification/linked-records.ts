import { homeOf } from '../../protocol/accounts/account-id.ts';
import { isMadeElsewhere } from '../../protocol/accounts/speaker.ts';
import { isKeyRecordFor } from '../../protocol/evidence/agent.ts';
import { isIncidentAbout } from '../../protocol/evidence/incident.ts';
import { isOverrideOf, twoReviewers } from '../../protocol/evidence/oversight.ts';
import { isEndFor, isStartFor, sessionOf } from '../../protocol/evidence/session.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { linkingIdsOfEach, type LinksTo, mayBeLinked } from '../records/link-tables.ts';
import type { Reads } from '../store/store.ts';

/** Records that link to one by the same name that are looked at, of any account. */
const MAX_LOOKED_AT = 256;
/** Where there are more than these, of each node but the account's home. */
const MAX_LOOKED_AT_EACH = 16;
/** Of these, at most so many overrides and incidents of the account's home count. */
export const MAX_OVERRIDES = 32;
const MAX_INCIDENTS = 32;
/** And so many of other nodes, which the account's statement may name. */
export const MAX_ELSEWHERE = 16;
/** A node takes one end of a session; records that came from others are looked at all the same. */
const MAX_SESSION_ENDS = 4;

/** A record that links to one, or is linked to by it, with whatever else was read of it. */
interface Linked {
  readonly record: AttestationRecord;
}

/** Finds records, and what links to what. */
export interface LinkedSources<Found extends Linked> {
  readonly store: Reads;
  /**
   * Where the row is read that says whether any record links to one: one row a verdict, for which nothing is gathered.
   * Default: the store.
   */
  readonly marks?: Pick<Reads, 'get'> | undefined;
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
  // Of most records nothing is said: one row tells.
  const naming = mayBeLinked(sources.marks ?? sources.store, subject.id);
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
  const links = { target: subject.id, name: 'original', kind: 'human_override' } as const;
  const all = await findThose(sources, subject, links, (record) => isOverrideOf(subject, record));
  return several(all, MAX_OVERRIDES, (records) => {
    const pair = new Set(twoReviewers(records.map(({ record }) => record)));
    return [...records.filter(({ record }) => pair.has(record)), ...records.filter(({ record }) => !pair.has(record))];
  });
}

async function findIncidents<Found extends Linked>(
  sources: LinkedSources<Found>,
  subject: AttestationRecord,
): Promise<Several<Found>> {
  const links = { target: subject.id, name: 'related', kind: 'incident' } as const;
  const all = await findThose(sources, subject, links, (record) => isIncidentAbout(subject, record));
  return several(all, MAX_INCIDENTS, (records) => records);
}

async function findSession<Found extends Linked>(
  sources: LinkedSources<Found>,
  subject: AttestationRecord,
): Promise<readonly Found[]> {
  const session = sessionOf(subject);
  if (session === undefined) return [];
  const links = { target: session, name: 'session', kind: 'session_end' } as const;
  const terms = { limit: MAX_SESSION_ENDS, each: 1, home: homeOf(subject.account) };
  const { ids: ends } = await linkingIdsOfEach(sources.store, links, terms);
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

/** The records that link so and pass. */
async function findThose<Found extends Linked>(
  sources: LinkedSources<Found>,
  { account }: AttestationRecord,
  links: LinksTo,
  passes: (record: AttestationRecord) => boolean,
): Promise<Several<Found>> {
  const terms = { limit: MAX_LOOKED_AT, each: MAX_LOOKED_AT_EACH, home: homeOf(account) };
  const { ids, truncated } = await linkingIdsOfEach(sources.store, links, terms);
  return { records: await readThose(sources, ids, passes), truncated };
}

/** The records of these ids that pass. */
async function readThose<Found extends Linked>(
  { read }: LinkedSources<Found>,
  ids: readonly RecordId[],
  passes: (record: AttestationRecord) => boolean,
): Promise<readonly Found[]> {
  const found = await Promise.all(ids.map(read));
  return found.flatMap((one) => (one !== undefined && passes(one.record) ? [one] : []));
}

/**
 * Those that count: of the account's home, and beside them of the other nodes, of which each has its turn, so that what
 * one makes hides nothing of another. `ordered`: of one node, what matters most first.
 */
function several<Found extends Linked>(
  { records: all, truncated }: Several<Found>,
  count: number,
  ordered: (ofNode: readonly Found[]) => readonly Found[],
): Several<Found> {
  const [elsewhere, atHome] = [all.filter(isElsewhere), all.filter((one) => !isElsewhere(one))];
  const byNode = [...Map.groupBy(elsewhere, ({ record }) => record.node).values()].map(ordered);
  const interleaved = Array.from({ length: MAX_ELSEWHERE }, (_, i) =>
    byNode.flatMap((ofNode) => ofNode.slice(i, i + 1)),
  ).flat();
  return {
    records: [...ordered(atHome).slice(0, count), ...interleaved.slice(0, MAX_ELSEWHERE)],
    truncated: truncated || atHome.length > count || elsewhere.length > MAX_ELSEWHERE,
  };
}

function isElsewhere({ record }: Linked): boolean {
  return isMadeElsewhere(record);
}
