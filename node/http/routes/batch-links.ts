import type { Caller } from '../../accounts/caller.ts';
import { addressed, type DecisionSubjectServices } from '../../governance/decision-subject.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { fieldProblem, type Problem } from '../problem.ts';
import type { NamingDecision, DecisionBatch } from '../recording/decision-batch.ts';
import { type DecisionServices, requireWholeAgent } from './attest.ts';

type LinkServices = Pick<DecisionServices, 'agents' | 'pseudonyms' | 'records' | 'sessions' | 'subjects'>;

/** Decisions that name the same agent or session. */
interface Named {
  readonly id: string;
  readonly decisions: readonly NamingDecision[];
}

/** Runs `inside` while what the decisions name stays as it is; throws before, where it is not as they need it. */
type Hold<Result> = (named: Named, inside: () => Promise<Result>) => Promise<Result>;

/** Incidents of one batch that are looked for: one of another node is asked for there. */
export const MAX_INCIDENTS = 32;
/** Related records of one batch that are looked for, for the same reason. */
export const MAX_RELATED = 100;

/**
 * Runs the work with every decision of the batch linked to what it names, as `submitDecision` links one; a decision
 * that cannot be is refused by itself. Agents and sessions are held until the work is done: each once, all agents in
 * order before all sessions in order, so that calls that hold several never wait for each other in a circle.
 */
export async function withLinks<Result>(
  services: LinkServices,
  caller: Caller,
  batch: DecisionBatch,
  work: () => Promise<Result>,
): Promise<Result> {
  const linked = batch.naming;
  if (linked.length === 0) return work();
  await address(services, caller, batch, linked);
  const agents = namedBy(batch.naming, ({ request }) => request.agentId);
  return holdingEach(batch, agents, holdAgent(services, caller, batch), () => {
    const sessions = namedBy(batch.naming, ({ request }) => request.sessionId);
    return holdingEach(batch, sessions, holdSession(services, caller), work);
  });
}

async function address(
  services: LinkServices,
  caller: Caller,
  batch: DecisionBatch,
  linked: readonly NamingDecision[],
): Promise<void> {
  const { pseudonyms, subjects } = services;
  const subject = { pseudonyms, subjects, records: eachOnce(services.records) };
  for (const decision of linked) {
    try {
      const { draft, warnings } = await addressed(subject, caller, decision.request, decision.draft);
      requireWholeAgent(decision.request);
      decision.draft = draft;
      batch.warn(decision.index, warnings);
    } catch (error) {
      batch.refuse(decision.index, error);
    }
  }
}

/** Looks for each incident and each related record once, and for no more than a few. */
function eachOnce(records: DecisionSubjectServices['records']): DecisionSubjectServices['records'] {
  return { ...incidentsOnce(records), requireAll: relatedOnce(records) };
}

function relatedOnce(records: DecisionSubjectServices['records']): DecisionSubjectServices['records']['requireAll'] {
  const required = new Map<string, Promise<AttestationRecord[]>>();
  return async (caller, ids, field) => {
    const found: AttestationRecord[] = [];
    for (const id of ids) {
      const requiring = required.get(id) ?? requireOne(caller, id, field);
      found.push(...(await requiring));
    }
    return found;
  };

  function requireOne(caller: Caller, id: string, field: string): Promise<AttestationRecord[]> {
    if (required.size >= MAX_RELATED) throw tooMany(field, MAX_RELATED, 'related records');
    const requiring = records.requireAll(caller, [id], field);
    required.set(id, requiring);
    return requiring;
  }
}

function incidentsOnce(
  records: DecisionSubjectServices['records'],
): Pick<DecisionSubjectServices['records'], 'findIncident' | 'requireIncident'> {
  const seen = new Set<string>();
  const found = new Map<string, ReturnType<typeof records.findIncident>>();
  const required = new Map<string, ReturnType<typeof records.requireIncident>>();
  const admit = (id: string): void => {
    seen.add(id);
    if (seen.size > MAX_INCIDENTS) throw tooMany('incidentId', MAX_INCIDENTS, 'incidents');
  };
  return {
    async findIncident(caller, id) {
      admit(id);
      const finding = found.get(id) ?? records.findIncident(caller, id);
      found.set(id, finding);
      return finding;
    },
    async requireIncident(caller, id, field) {
      admit(id);
      const requiring = required.get(id) ?? records.requireIncident(caller, id, field);
      required.set(id, requiring);
      return requiring;
    },
  };
}

/** By the name, in its order. */
function namedBy(
  decisions: readonly NamingDecision[],
  nameOf: (decision: NamingDecision) => string | undefined,
): readonly Named[] {
  const named = Map.groupBy(decisions, nameOf);
  return [...named]
    .flatMap(([id, those]) => (id === undefined ? [] : [{ id, decisions: those }]))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * Holds one after another, and runs the work inside all. Where one cannot be held, the decisions that name it are
 * refused.
 */
async function holdingEach<Result>(
  batch: DecisionBatch,
  all: readonly Named[],
  hold: Hold<Result>,
  work: () => Promise<Result>,
  at = 0,
): Promise<Result> {
  const named = all[at];
  if (named === undefined) return work();
  const inside = (): Promise<Result> => holdingEach(batch, all, hold, work, at + 1);
  let isHeld = false;
  try {
    return await hold(named, () => {
      isHeld = true;
      return inside();
    });
  } catch (error) {
    if (isHeld) throw error;
    for (const { index } of named.decisions) batch.refuse(index, error);
    return inside();
  }
}

function holdAgent<Result>({ agents }: LinkServices, caller: Caller, batch: DecisionBatch): Hold<Result> {
  return ({ id, decisions }, inside) =>
    agents.signing(caller.account.id, id, async (sign) => {
      const slices = new TimeSlices();
      for (const decision of decisions) {
        if (slices.isOver) await slices.rest();
        const { agentSalt: salt, agentSignature: signature } = decision.request;
        try {
          decision.draft = await sign({ agentId: id, salt, signature }, decision.draft);
        } catch (error) {
          batch.refuse(decision.index, error);
        }
      }
      return inside();
    });
}

function holdSession<Result>({ sessions }: LinkServices, caller: Caller): Hold<Result> {
  return ({ id, decisions }, inside) =>
    sessions.within(caller, id, (start) => {
      for (const decision of decisions) {
        const { draft } = decision;
        decision.draft = { ...draft, links: { ...draft.links, session: start.id } };
      }
      return inside();
    });
}

function tooMany(field: string, limit: number, things: string): Problem {
  return fieldProblem(field, 'maxItems', `is one of more than ${limit} ${things} that the batch names`);
}
