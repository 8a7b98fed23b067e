import { join } from 'node:path';
import { utf8 } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type RosterChain, rosterSigners } from '../../protocol/keys/roster-chain.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { neededWitnesses, type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { judgeGenesis } from '../../protocol/log/roster-rules.ts';
import { encodeSignature } from '../../protocol/statement/statement.ts';
import { readKeyFile } from '../../node/keys/key-file.ts';
import { nativeSigner, nativeSuite } from '../../node/keys/native-suite.ts';
import { SignRosterAnswerShape } from '../../node/operator/roster-forms.ts';
import { ask } from '../key/ask.ts';
import type { Target } from '../key/targets.ts';
import { UsageError } from '../usage-error.ts';
import { homePassphrase } from '../node-key/home-passphrase.ts';

type Vote = SignedRoster['signatures'][number];

/** Who may sign a roster, and how many of them must. */
export interface Electorate {
  readonly judges: Roster;
  readonly needed: number;
}

/** Of a genesis roster all its members; of a later one a quorum of the members before. Throws `RosterError`. */
export function electorateOf(statement: string, chain: RosterChain | null): Electorate {
  if (rosterStatement.parse(statement).version === 1) {
    const judges = judgeGenesis(statement);
    return { judges, needed: judges.members.length };
  }
  if (chain === null) throw new UsageError('what the roster follows: name --roster, or a running node');
  chain.judgeNext(nativeSuite, statement);
  return { judges: chain.current, needed: neededWitnesses(chain.current) };
}

/** Signs with the identity key in a home whose node does not run. Throws `RosterError` where it has no vote. */
export async function voteOfHome(home: string, statement: string, { judges }: Electorate): Promise<Vote> {
  const signer = nativeSigner(await readKeyFile(join(home, 'keys'), 'identity', await homePassphrase()));
  const identityKey = encodeSignature(signer.publicKey);
  const member = judges.members.find((candidate) => candidate.identityKey === identityKey);
  if (member === undefined) throw new RosterError('too-few-signatures', `the node of ${home} has no vote`);
  const signature = encodeSignature(await signer.sign(utf8(statement), rosterStatement.context));
  return { node: member.node, signature };
}

/** Has a running node sign. Throws `OperatorError` where it refuses. */
export async function voteOfNode(target: Target, statement: string, insists: boolean): Promise<Vote> {
  const question = { method: 'POST', path: '/rosters/sign', body: { statement, insists } } as const;
  const { node, signature } = await ask(target, { ...question, answer: SignRosterAnswerShape });
  return { node, signature };
}

/** One proposal with the signatures of all copies, each member's once. Throws `UsageError`. */
export function joined(proposals: readonly SignedRoster[]): SignedRoster {
  const [first, ...others] = proposals;
  if (first === undefined) throw new UsageError('name a proposal');
  if (others.some(({ statement }) => statement !== first.statement)) {
    throw new UsageError('the files are proposals of different rosters');
  }
  const votes = new Map<NodeId, Vote>();
  for (const vote of proposals.flatMap(({ signatures }) => signatures)) votes.set(vote.node, vote);
  return { statement: first.statement, signatures: [...votes.values()] };
}

/** Members whose signatures hold. Throws `RosterError` on one that does not. */
export function signersOf(proposal: SignedRoster, { judges }: Electorate): ReadonlySet<NodeId> {
  return rosterSigners(nativeSuite, proposal, judges);
}
