import type { Static } from 'typebox';
import { UsageError } from '../../node/config/command-line.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { OperatorError } from '../../node/operator/operator-client.ts';
import { DecidedRostersAnswerShape, RostersAnswerShape } from '../../node/operator/roster-forms.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { RosterFile } from '../../protocol/verdict/bundle.ts';
import { ask } from '../key/ask.ts';
import { findTargets, type Target } from '../key/targets.ts';
import type { Flags } from './arguments.ts';
import { readChain } from './files.ts';

export type RostersAnswer = Static<typeof RostersAnswerShape>;

/** The rosters as a file has them, or as a running node knows them, which also says what the ledger shows. */
export interface Rosters {
  readonly chain: RosterChain;
  readonly answer: RostersAnswer | null;
}

/** The running node that the flags name. Throws `UsageError` unless they name one. */
export async function targetOf({ home, node }: Flags): Promise<Target> {
  if ((home === undefined) === (node === undefined)) throw new UsageError('name a running node by --home or by --node');
  const [target] = await findTargets(home, node === undefined ? [] : [node]);
  if (target === undefined) throw new UsageError('there is no such node');
  return target;
}

/** Throws `UsageError`, `OperatorError`, or the error of a connection. */
export async function rostersOf(flags: Flags): Promise<Rosters> {
  if (flags.roster !== undefined) return { chain: await readChain(flags.roster), answer: null };
  const answer = await askRosters(await targetOf(flags));
  return { chain: RosterChain.open(nativeSuite, answer), answer };
}

/** The rosters in force with their decisions, as a running node knows them. Throws as `rostersOf` does. */
export async function decidedRostersOf(flags: Flags): Promise<RosterFile> {
  if (flags.roster !== undefined) throw new UsageError('a file of rosters has no decisions: --home or --node has them');
  const question = { method: 'GET', path: '/rosters/decisions', answer: DecidedRostersAnswerShape } as const;
  try {
    return (await ask(await targetOf(flags), question)).rosters;
  } catch (error) {
    // A node of an earlier release has no such route.
    if (!(error instanceof OperatorError) || error.status !== 404) throw error;
    throw new OperatorError(error.message, error.status, 'the node is of another version');
  }
}

export function askRosters(target: Target): Promise<RostersAnswer> {
  return ask(target, { method: 'GET', path: '/rosters', answer: RostersAnswerShape });
}
