import type { Context } from 'koa';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { hashOfRoster, rosterStatement } from '../../protocol/log/roster.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { Federation } from '../federation/federation.ts';
import { PeerStatementError } from '../federation/peer-statement-error.ts';
import type { RosterBook } from '../federation/roster-book.ts';
import { RosterVoteError, type RosterVotes } from '../federation/roster-votes.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, Problem } from '../http/problem.ts';
import type { OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { operatorRoute } from './operator-route.ts';
import { PublishRosterShape, SignRosterShape } from './roster-forms.ts';

export interface RosterRouteRooms {
  readonly self: NodeId;
  readonly book: RosterBook;
  readonly votes: RosterVotes;
  readonly federation: Pick<Federation, 'learnRoster'>;
  readonly anchoring: Pick<Anchoring, 'statementEntry' | 'ensureStatement' | 'statementAnchor' | 'noteSealed'>;
  readonly now: () => number;
}

/** A roster of 256 members that all of them signed. */
const MAX_BYTES = 4 << 20;

const validateSign = validator(SignRosterShape);
const validatePublish = validator(PublishRosterShape);

/** The federation's rosters as an operator reads, signs and publishes them. */
export function rosterRoutes(rooms: RosterRouteRooms): readonly OperatorRoute[] {
  return [
    operatorRoute('GET', '/rosters', () => rostersAnswer(rooms)),
    operatorRoute('POST', '/rosters/sign', async (context) => {
      const { statement, insists = false } = validateSign(await bodyOf(context));
      return { ...(await refusable('statement', () => rooms.votes.sign(statement, insists))) };
    }),
    operatorRoute('POST', '/rosters', async (context) => publish(rooms, validatePublish(await bodyOf(context)).roster)),
  ];
}

async function rostersAnswer({ self, book, anchoring }: RosterRouteRooms): Promise<JsonObject> {
  const { signed } = book.chain;
  // Nothing names the genesis roster.
  const later = signed.slice(1).map(({ statement: text }) => anchoring.statementAnchor({ type: 'roster', text }));
  const anchors = [undefined, ...(await Promise.all(later))];
  return {
    node: self,
    rosters: signed.map(({ statement, signatures }) => ({
      statement,
      signatures: signatures.map(({ node, signature }) => ({ node, signature })),
    })),
    anchored: anchors.map((anchor) => anchor?.consensusTimestamp ?? null),
    rivals: book.rivals.map(({ version, hash }) => ({ version, hash })),
  };
}

/** Crash order: the row that has the roster anchored lands in the write that puts it in force. */
async function publish({ federation, anchoring, now }: RosterRouteRooms, signed: SignedRoster): Promise<JsonObject> {
  const hash: Sha256Hash = hashOfRoster(nativeSuite, signed.statement);
  const { version } = await refusable('roster', async () => rosterStatement.parse(signed.statement));
  const at = timestampOf(now());
  const named = version === 1 ? null : ({ type: 'roster', text: signed.statement } as const);
  const entries = named === null ? [] : [anchoring.statementEntry(named, at)];
  const outcome = await refusable('roster', () => federation.learnRoster(signed, entries));
  if (outcome === 'rival') throw refusal('roster', 'another roster of that version is in force; this is kept as proof');
  anchoring.noteSealed();
  // It may have come from peers or a file, and whoever published it may be gone before the ledger named it.
  if (outcome === 'known' && named !== null) await anchoring.ensureStatement(named, at);
  return { outcome, version, hash };
}

/** What rosters are refused for, in the words of the API. */
async function refusable<Result>(field: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error)) throw refusal(field, error.message);
    throw error;
  }
}

function isRefusal(error: unknown): error is Error {
  return error instanceof PeerStatementError || error instanceof RosterVoteError || error instanceof StatementError;
}

function refusal(field: string, message: string): Problem {
  return new Problem('invalid-field', message, { errors: [fieldError([field], 'roster', message)] });
}

async function bodyOf(context: Context): Promise<JsonObject> {
  return (await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value;
}
