import type { Context } from 'koa';
import { hashText, isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { MAX_ROSTER_CHARACTERS } from '../../protocol/log/roster-rules.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import type { ConsensusTimestamp } from '../../protocol/time.ts';
import type { RosterEntry } from '../../protocol/verdict/bundle.ts';
import { RosterVoteError, type RosterVotes } from '../federation/roster-votes.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, Problem } from '../http/problem.ts';
import type { OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { CurrentRosters } from '../log/members/current-rosters.ts';
import type { LogKnowledge, RosterInForce } from '../verification/log-knowledge.ts';
import { operatorRoute } from './operator-listener.ts';
import { NameRosterShape } from './roster-forms.ts';

export interface RosterRouteServices {
  readonly self: NodeId;
  readonly currentRosters: CurrentRosters;
  readonly votes: Pick<RosterVotes, 'next' | 'sign'>;
  readonly federationLog: Pick<FederationLog, 'decision' | 'state'>;
  readonly knowledge: Pick<LogKnowledge, 'rosters'>;
}

/**
 * The federation's rosters, and the vote on the next. Answered while a start waits: for a member that is gone for good.
 */
export const ROSTERS_PATH = '/rosters';
/** The longest roster, whose quotes are escaped. */
const MAX_BYTES = 2 * MAX_ROSTER_CHARACTERS;

const validateName = validator(NameRosterShape);

/** The federation's rosters as an operator reads them, and has their node sign and name the next. */
export function rosterRoutes(services: RosterRouteServices): readonly OperatorRoute[] {
  return [
    operatorRoute('GET', ROSTERS_PATH, () => rostersAnswer(services)),
    operatorRoute('GET', `${ROSTERS_PATH}/decisions`, async () => {
      return { rosters: (await services.knowledge.rosters()).map(decidedRoster) };
    }),
    operatorRoute('POST', ROSTERS_PATH, async (context) => {
      const { statement } = validateName(await bodyOf(context));
      const hash = await refusable(() => services.votes.sign(statement));
      return { node: services.self, version: rosterStatement.parse(statement).version, hash };
    }),
  ];
}

/** Who takes a roster as known asks for the text of its decision, and for no path. */
function decidedRoster({ text, decision }: RosterInForce): RosterEntry {
  return { text, decision: decision === null ? null : { text: decision, paths: [] } };
}

async function rostersAnswer({ self, currentRosters, votes, federationLog }: RosterRouteServices): Promise<JsonObject> {
  const { signedGenesis, texts } = currentRosters.chain;
  const { state } = federationLog;
  const vote = await votes.next();
  return {
    node: self,
    genesis: {
      statement: signedGenesis.statement,
      signatures: signedGenesis.signatures.map(({ node, signature }) => ({ node, signature })),
    },
    later: texts.slice(1),
    decided: await Promise.all(state.rosters.map(({ index }) => decidedAt(federationLog, index))),
    majority: state.majority,
    named: namedRosters(state.open),
    vote: vote === undefined ? null : voteOf(vote.signed.statement),
  };
}

async function decidedAt(
  log: Pick<FederationLog, 'decision'>,
  index: number | null,
): Promise<ConsensusTimestamp | null> {
  const logged = index === null ? undefined : await log.decision(index);
  return logged?.decision.consensusTimestamp ?? null;
}

function namedRosters(open: FederationLog['state']['open']): { hash: Sha256Hash; by: string[] }[] {
  const by = new Map<Sha256Hash, string[]>();
  for (const [member, { roster }] of Object.entries(open)) {
    if (roster !== null && isSha256Hash(roster)) by.set(roster, [...(by.get(roster) ?? []), member]);
  }
  return [...by].map(([hash, members]) => ({ hash, by: members }));
}

function voteOf(text: string): JsonObject {
  return { version: rosterStatement.parse(text).version, hash: hashText(nativeSuite, text) };
}

/** What rosters are refused for, in the words of the API. */
async function refusable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RosterVoteError)) throw error;
    throw new Problem('invalid-field', error.message, { errors: [fieldError(['statement'], 'roster', error.message)] });
  }
}

async function bodyOf(context: Context): Promise<JsonObject> {
  return (await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value;
}
