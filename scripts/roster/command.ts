import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { KeyFileError } from '../../node/keys/key-file.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { PassphraseError } from '../../node/keys/passphrase.ts';
import { isNodeAbsent, OperatorError } from '../../node/operator/operator-client.ts';
import { NameRosterAnswerShape } from '../../node/operator/roster-forms.ts';
import { RosterChain, rosterSigners } from '../../protocol/keys/roster-chain.ts';
import { type GivenRosters, rosterFileValue } from '../../protocol/keys/roster-file.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import { judgeGenesis } from '../../protocol/log/roster-rules.ts';
import { DEFAULT_REVOCATION_REACH, type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import { ask } from '../key/ask.ts';
import { type Arguments, type Flags, quorumOf, reachOf, readArguments, required, USAGE } from './arguments.ts';
import { genesisDraft, memberOf, nextDraft } from './drafts.ts';
import { readChain, readMember, readProposal, textOf, writeJson } from './files.ts';
import { joined, signatureOfHome } from './founders.ts';
import { decidedRostersOf, rostersOf, targetOf } from './source.ts';
import { toleranceText } from './tolerance.ts';
import { fingerprintText, proposalText, rostersText } from './words.ts';

/** 0 done · 1 refused, or signatures are missing · 2 wrong usage, or a file that cannot be read. */
export type RosterExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

/** The `roster` command: drafts of the federation's rosters, signatures of the genesis, and names of later ones. */
export async function rosterCommand(args: readonly string[], terminal: Terminal): Promise<RosterExit> {
  try {
    const asked = readArguments(args);
    if (asked === null) {
      terminal.out(USAGE);
      return 0;
    }
    return await COMMANDS[asked.name](asked, terminal);
  } catch (error) {
    const isUsage = [UsageError, StatementError, KeyFileError, PassphraseError].some((kind) => error instanceof kind);
    if (isUsage && error instanceof Error) {
      terminal.err(usageLine(error, 'roster'));
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
    const founding = foundingOf(proposal);
    if (founding === null) {
      throw new UsageError('only a genesis roster is signed in a file: a next one is named by a running node');
    }
    const own = await signatureOfHome(required(flags, 'home'), proposal.statement, founding);
    const signed = joined([proposal, { ...proposal, signatures: [own] }]);
    await writeJson(flags.out ?? file, signed);
    return toldFounders(signed, founding, terminal) ? 0 : 1;
  },

  async name({ flags, files }, terminal) {
    const { statement } = await readProposal(one(files));
    const target = await targetOf(flags);
    const question = { method: 'POST', path: '/rosters', answer: NameRosterAnswerShape } as const;
    const { node, version, hash } = await ask(target, { ...question, body: { statement } });
    terminal.out(`${node} names roster ${version} ${hash} on the ledger`);
    return 0;
  },

  async publish({ flags, files }, terminal) {
    const out = required(flags, 'out');
    const proposal = joined(await Promise.all(files.map(readProposal)));
    const given: GivenRosters =
      flags.roster === undefined ? { genesis: proposal, later: [] } : withNext(await readChain(flags.roster), proposal);
    const { current, hash, genesis } = RosterChain.open(nativeSuite, given);
    await writeJson(out, rosterFileValue(given));
    terminal.out(`roster ${current.version} ${hash} is in ${out}`);
    terminal.out(fingerprintText(genesis));
    return 0;
  },

  async show({ flags, files }, terminal) {
    const [file, ...others] = files;
    none(others);
    if (flags.decisions === true) {
      none(files);
      return written(flags, await decidedRostersOf(flags), terminal);
    }
    const hasSource = flags.roster !== undefined || flags.home !== undefined || flags.node !== undefined;
    if (file !== undefined) {
      const proposal = await readProposal(file).catch(() => null);
      if (proposal !== null) {
        const founding = foundingOf(proposal);
        if (founding !== null) return toldFounders(proposal, founding, terminal) ? 0 : 1;
        const chain = hasSource ? (await rostersOf(flags)).chain : null;
        terminal.out(proposalText(proposal.statement, rosterStatement.parse(proposal.statement), chain?.current));
        return 0;
      }
    }
    const rosters = file === undefined ? await rostersOf(flags) : { chain: await readChain(file), answer: null };
    const given = rosterFileValue(rosters.chain.given);
    if (flags.out !== undefined) await writeJson(flags.out, given);
    terminal.out(flags.json === true ? textOf(rosters.answer ?? given) : rostersText(rosters));
    return 0;
  },
};

/** The roster of a proposal that founds a federation; null for a later one. Throws `RosterError`. */
function foundingOf({ statement }: SignedRoster): Roster | null {
  return rosterStatement.parse(statement).version === 1 ? judgeGenesis(statement) : null;
}

function withNext(chain: RosterChain, { statement }: SignedRoster): GivenRosters {
  return chain.follow(nativeSuite, statement).given;
}

/** Says whose signatures a genesis roster has. Returns whether it has all of them. */
function toldFounders(proposal: SignedRoster, founding: Roster, terminal: Terminal): boolean {
  const signers = rosterSigners(nativeSuite, proposal, founding);
  terminal.out(proposalText(proposal.statement, founding, undefined));
  terminal.out(`signed by ${[...signers].join(' ') || 'nobody'}: ${signers.size} of ${founding.members.length}`);
  return signers.size >= founding.members.length;
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
  return isNodeAbsent(error) ? 'the node does not run' : null;
}
