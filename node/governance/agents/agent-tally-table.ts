import Type, { type Static } from 'typebox';
import { dayOf } from '../../../protocol/audit/day.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { Closed, CountShape, OrdinalShape, OrNull, TimestampShape } from '../../../protocol/shapes.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { jsonTable, numberCodec, Table } from '../../store/table.ts';
import { agentPart } from './agent-tables.ts';

const SpanShape = { count: CountShape, firstSeen: OrNull(TimestampShape), lastSeen: OrNull(TimestampShape) };
const AgentTallyShape = Closed({
  ...SpanShape,
  kinds: Type.Record(Type.String(), OrdinalShape),
  /** The newest days with records of the agent, oldest first, none more than `COUNTED_DAYS` before the last of them. */
  days: Type.Array(Closed({ day: Type.String(), count: OrdinalShape })),
  incidents: CountShape,
  overrides: CountShape,
  asserted: Closed(SpanShape),
});
/**
 * What this node has on record of an agent id. Counted are the records of the registered agent itself, each signed by
 * it or by the registry; what others say under its name is counted under `asserted` alone.
 */
export type AgentTallyRow = Readonly<Static<typeof AgentTallyShape>>;

/** (hash of the agent's id) → counts of this node's own records about it. */
export const agentTallyTable = jsonTable('agent-tally', AgentTallyShape);
/**
 * (hash of the agent's id, seq) → the how manieth record of the agent that is: between two seqs, a difference counts.
 */
export const agentRecordTable = new Table('agent-record', numberCodec);

/** Days that are counted one by one, today included. */
const COUNTED_DAYS = 30;
const DAY_MS = 86_400_000;

const NOTHING: AgentTallyRow = {
  count: 0,
  firstSeen: null,
  lastSeen: null,
  kinds: {},
  days: [],
  incidents: 0,
  overrides: 0,
  asserted: { count: 0, firstSeen: null, lastSeen: null },
};

/** How a record counts for an agent: its own, or one of others that only names it, or that is about a record of it. */
export type AgentMention = 'own' | 'asserted' | 'incident' | 'override';

/** An agent, by the hash of its id, that a record counts for. */
export type Mention = readonly [agent: string, mention: AgentMention];

/**
 * The agent whose own record it is; undefined where it is no agent's. Nothing but the registry and what it signs is.
 */
export function ownAgentOf({ kind, claims }: AttestationRecord): string | undefined {
  const { agentId, agentSignature, keyEvent } = claims;
  if (agentId === undefined) return undefined;
  const isOfRegistry =
    kind === 'agent_registration' || keyEvent === 'agent-rotated' || keyEvent === 'agent-deactivated';
  return isOfRegistry || agentSignature !== undefined ? agentPart(agentId) : undefined;
}

/** Records that one is about, whose agents it counts for. */
export function subjectsOf({ kind, links }: AttestationRecord): readonly RecordId[] {
  if (kind === 'human_override') return links.original === undefined ? [] : [links.original];
  return kind === 'incident' ? (links.related ?? []) : [];
}

/**
 * The agents that a record counts for. `subjectOf`: a record of this node by its id. A record about others counts
 * within their account alone. That somebody asked for an agent's record is no mention of it.
 */
export function mentionsOf(
  record: AttestationRecord,
  subjectOf: (id: RecordId) => AttestationRecord | undefined,
): readonly Mention[] {
  const own = ownAgentOf(record);
  if (own !== undefined) return [[own, 'own']];
  const { agentId } = record.claims;
  if (agentId !== undefined && record.kind !== 'agent_record') return [[agentPart(agentId), 'asserted']];
  const subjects = subjectsOf(record);
  if (subjects.length === 0) return [];
  const mention = record.kind === 'incident' ? 'incident' : 'override';
  const agents = new Set<string>();
  for (const id of subjects) {
    const subject = subjectOf(id);
    const agent = subject?.account === record.account ? ownAgentOf(subject) : undefined;
    if (agent !== undefined) agents.add(agent);
  }
  return [...agents].map((agent) => [agent, mention]);
}

/** Whether a record may count for an agent: of any other, `mentionsOf` has none. */
export function mayMention(record: AttestationRecord): boolean {
  return record.claims.agentId !== undefined || subjectsOf(record).length > 0;
}

/** An agent's counts with one more record in them. */
export function addMention(
  before: AgentTallyRow = NOTHING,
  record: AttestationRecord,
  mention: AgentMention,
): AgentTallyRow {
  if (mention === 'incident') return { ...before, incidents: before.incidents + 1 };
  if (mention === 'override') return { ...before, overrides: before.overrides + 1 };
  if (mention === 'asserted') return { ...before, asserted: extended(before.asserted, record) };
  const kinds = { ...before.kinds, [record.kind]: (before.kinds[record.kind] ?? 0) + 1 };
  return { ...before, ...extended(before, record), kinds, days: withDay(before.days, dayOf(record.submittedAt)) };
}

/** Records of the last `COUNTED_DAYS` UTC days, that of `now` included. */
export function lastDays({ days }: Pick<AgentTallyRow, 'days'>, now: number): number {
  const from = earliestDay(now);
  return days.reduce((sum, { day, count }) => (day >= from ? sum + count : sum), 0);
}

function extended(
  { count, firstSeen }: Pick<AgentTallyRow, keyof typeof SpanShape>,
  { submittedAt }: AttestationRecord,
) {
  return { count: count + 1, firstSeen: firstSeen ?? submittedAt, lastSeen: submittedAt };
}

function withDay(days: AgentTallyRow['days'], day: string): AgentTallyRow['days'] {
  const last = days.at(-1);
  if (last?.day === day) return [...days.slice(0, -1), { day, count: last.count + 1 }];
  const from = earliestDay(Date.parse(day));
  return [...days.filter((counted) => counted.day >= from), { day, count: 1 }];
}

function earliestDay(now: number): string {
  return new Date(now - (COUNTED_DAYS - 1) * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
