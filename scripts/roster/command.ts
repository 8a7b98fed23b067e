import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { DEFAULT_REVOCATION_REACH, rosterStatement } from '../../protocol/log/roster.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { OperatorError } from '../../node/operator/operator-client.ts';
import { PublishRosterAnswerShape } from '../../node/operator/roster-forms.ts';
import { ask } from '../key/ask.ts';
import { UsageError } from '../usage-error.ts';
import { type Arguments, type Flags, quorumOf, reachOf, readArguments, required, USAGE } from './arguments.ts';
import { genesisDraft, memberOf, nextDraft } from './drafts.ts';
import { readChain, readMember, readProposal, textOf, writeJson } from './files.ts';
import { hasSocket, rostersOf, targetOf } from './source.ts';
import { electorateOf, joined, signersOf, voteOfHome, voteOfNode } from './votes.ts';
import { toleranceText } from './tolerance.ts';
import { proposalText, rostersText } from './words.ts';

/** 0 done · 1 refused, or signatures are missing · 2 wrong usage, or a file that cannot be read. */
export type RosterExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

/** The `roster` command: drafts, signatures and publication of the federation's rosters. */
export async function rosterCommand(args: readonly string[], terminal: Terminal): Promise<RosterExit> {
  try {
    const asked = readArguments(args);
    if (asked === null) {
      terminal.out(USAGE);
      return 0;
    }
    return await COMMANDS[asked.name](asked, terminal);
  } catch (error) {
    if (error instanceof UsageError || error instanceof StatementError) {
      terminal.err(`roster: ${error.message}\n\n${USAGE}`);
      return 2;
    }
    const reason = refusalOf(error);
    if (reason === null) throw error;
    terminal.err(`roster: ${reason}`);
    return 1;
  }
}

type Run = (asked: Arguments, terminal: Terminal) => Promise<RosterExit>;

const COMMANDS: Readonly<Record<Arguments['name'], Run>> = {
  async member({ flags, files }, terminal) {
    none(files);
    const place = { region: required(flags, 'region'), baseUrl: required(flags, 'base-url') };
    const [multiaddrs, accounts] = [[...(flags.peer ?? [])], [...(flags.account ?? [])]];
    const member = await memberOf(required(flags, 'home'), required(flags, 'node'), { ...place, multiaddrs, accounts });
    return written(flags, member, terminal);
  },

  async init({ flags, files }, terminal) {
    if (files.length === 0) throw new UsageError('name the members’ files');
    const terms = {
      name: required(flags, 'name'),
      network: required(flags, 'network'),
      topic: required(flags, 'topic'),
      quorum: quorumOf(flags),
      reach: reachOf(flags) ?? DEFAULT_REVOCATION_REACH,
    };
    const draft = genesisDraft(await Promise.all(files.map(readMember)), terms);
    const table = toleranceText(rosterStatement.parse(draft.statement));
    // The draft itself may be read from the standard output.
    if (flags.out === undefined) terminal.err(table);
    else terminal.out(table);
    return written(flags, draft, terminal);
  },

  async propose({ flags, files }, terminal) {
    none(files);
    const { add = [], remove = [], move = [] } = flags;
    const { chain } = await rostersOf(flags);
    const draft = nextDraft(chain, {
      add: await Promise.all(add.map(readMember)),
      move: await Promise.all(move.map(readMember)),
      remove,
      quorum: flags.quorum === undefined ? undefined : quorumOf(flags),
      reach: reachOf(flags),
    });
    return written(flags, draft, terminal);
  },

  async sign({ flags, files }, terminal) {
    const file = one(files);
    const proposal = await readProposal(file);
    const isGenesis = rosterStatement.parse(proposal.statement).version === 1;
    const home = flags.node === undefined ? required(flags, 'home') : undefined;
    // A node that runs has the rosters in force, and remembers what it signed.
    const asksNode = !isGenesis && (home === undefined || (hasSocket(home) && flags.roster === undefined));
    const chain = isGenesis ? null : (await rostersOf(flags)).chain;
    const electorate = electorateOf(proposal.statement, chain);
    const vote = asksNode
      ? await voteOfNode(await targetOf(flags), proposal.statement, flags.insist === true)
      : await voteOfHome(home ?? '', proposal.statement, electorate);
    const signed = joined([proposal, { ...proposal, signatures: [vote] }]);
    await writeJson(flags.out ?? file, signed);
    return told(signed, chain, terminal) ? 0 : 1;
  },

  async publish({ flags, files }, terminal) {
    const signed = joined(await Promise.all(files.map(readProposal)));
    if (flags.out !== undefined) return publishToFile(signed, flags, flags.out, terminal);
    const question = { method: 'POST', path: '/rosters', answer: PublishRosterAnswerShape } as const;
    const { statement, signatures } = signed;
    const roster = { statement, signatures: signatures.map(({ node, signature }) => ({ node, signature })) };
    const answer = await ask(await targetOf(flags), { ...question, body: { roster } });
    terminal.out(`roster ${answer.version} ${answer.hash} is in force (${answer.outcome}); the node tells the others`);
    return 0;
  },

  async show({ flags, files }, terminal) {
    const [file, ...others] = files;
    none(others);
    const hasSource = flags.roster !== undefined || flags.home !== undefined || flags.node !== undefined;
    if (file !== undefined) {
      const proposal = await readProposal(file).catch(() => null);
      if (proposal !== null) {
        const chain = hasSource ? (await rostersOf(flags)).chain : null;
        return told(proposal, chain, terminal) ? 0 : 1;
      }
    }
    const rosters = file === undefined ? await rostersOf(flags) : { chain: await readChain(file), answer: null };
    if (flags.out !== undefined) await writeJson(flags.out, rosters.chain.signed);
    terminal.out(flags.json === true ? textOf(rosters.answer ?? rosters.chain.signed) : rostersText(rosters));
    return 0;
  },
};

async function publishToFile(
  signed: SignedRoster,
  { roster: file }: Flags,
  out: string,
  terminal: Terminal,
): Promise<RosterExit> {
  const before = file === undefined ? null : await readChain(file);
  const chain = before === null ? RosterChain.open(nativeSuite, [signed]) : before.follow(nativeSuite, signed);
  await writeJson(out, chain.signed);
  terminal.out(`roster ${chain.current.version} ${chain.hash} is in ${out}; fingerprint ${chain.genesis}`);
  return 0;
}

/** Says where a proposal stands. Returns whether it has the signatures that it needs. */
function told(proposal: SignedRoster, chain: RosterChain | null, terminal: Terminal): boolean {
  const electorate = electorateOf(proposal.statement, chain);
  const signers = signersOf(proposal, electorate);
  terminal.out(proposalText(proposal, rosterStatement.parse(proposal.statement), chain, electorate, signers));
  return signers.size >= electorate.needed;
}

async function written({ out }: Flags, value: unknown, terminal: Terminal): Promise<RosterExit> {
  if (out === undefined) terminal.out(textOf(value).trimEnd());
  else await writeJson(out, value);
  return 0;
}

function one(files: readonly string[]): string {
  const [file, ...others] = files;
  if (file === undefined || others.length > 0) throw new UsageError('name one proposal');
  return file;
}

function none(files: readonly string[]): void {
  if (files.length > 0) throw new UsageError(`what is ${files[0]}?`);
}

/** Why a node or the rules of rosters refuse; null for a fault of ours. */
function refusalOf(error: unknown): string | null {
  if (error instanceof OperatorError) return error.detail;
  if (error instanceof RosterError) return error.message;
  const isAbsent =
    error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED');
  return isAbsent ? 'the node does not run' : null;
}
