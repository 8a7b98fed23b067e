import type { Static } from 'typebox';
import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { FsckError, StoreView } from '../../node/fsck/fsck.ts';
import { encryptHome } from '../../node/keys/encrypt-home.ts';
import { KeyFileError } from '../../node/keys/key-file.ts';
import { PassphraseError, readPassphrase } from '../../node/keys/passphrase.ts';
import { RotateSigningKeyAnswerShape, SigningKeysAnswerShape } from '../../node/operator/signing-key-forms.ts';
import { isNodeAbsent } from '../../node/operator/operator-client.ts';
import { StoreError } from '../../node/store/store.ts';
import { ask, type Outcome, outcomeOf, reasonOf } from '../key/ask.ts';
import { findTargets, type Target } from '../key/targets.ts';
import { type Command, readArguments, USAGE } from './arguments.ts';
import { printFallen } from './fallen.ts';
import { homePassphrase } from './home-passphrase.ts';
import { writeRevocations } from './revocations.ts';
import { revoke, revokedWords } from './revoke.ts';

/** 0 done · 1 refused, or no answer that reads · 2 wrong usage. */
export type NodeKeyExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

/** The `node-key` command: a node's own keys. */
export async function nodeKeyCommand(args: readonly string[], terminal: Terminal): Promise<NodeKeyExit> {
  try {
    const asked = readArguments(args);
    if (asked === null) {
      terminal.out(USAGE);
      return 0;
    }
    const { command, home, node, json } = asked;
    const [target] = await findTargets(home, node === undefined ? [] : [node]);
    if (target === undefined) throw new UsageError('there is no such node');
    if (command.name === 'encrypt') return await encrypt(target, command.passphraseFile, terminal);
    if (command.name === 'fallen') {
      const printed = await outcomeOf(target, printFallen(target, command.key, json, terminal));
      return printed.ok ? 0 : refused(printed, terminal);
    }
    if (command.name === 'revocations') {
      const written = await outcomeOf(target, writeRevocations(target, command.out, terminal));
      return written.ok ? 0 : refused(written, terminal);
    }
    const outcome =
      command.name === 'revoke'
        ? toldOf(await revoke(target, command), revokedWords)
        : await outcomeOf(target, answerOf(target, command));
    if (!outcome.ok) return refused(outcome, terminal);
    terminal.out(json ? outcome.answer.json : outcome.answer.words);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(usageLine(error, 'node-key'));
    return 2;
  }
}

interface Told {
  readonly words: string;
  readonly json: string;
}

type OnlineCommand = Exclude<Command, { readonly name: 'encrypt' | 'fallen' | 'revocations' | 'revoke' }>;

async function answerOf(target: Target, command: OnlineCommand): Promise<Told> {
  switch (command.name) {
    case 'show': {
      const answer = await ask(target, { method: 'GET', path: '/signing-keys', answer: SigningKeysAnswerShape });
      return told(answer, tableOf(answer));
    }
    case 'rotate': {
      const question = { method: 'POST', path: '/signing-keys/rotate', answer: RotateSigningKeyAnswerShape } as const;
      const answer = await ask(target, { ...question, body: {} });
      return told(
        answer,
        `${answer.node} signs with ${answer.keyId}\nbefore it with ${answer.before}, which stays good`,
      );
    }
  }
}

/** One key a line, the newest last. */
function tableOf({ inUse, keys }: Static<typeof SigningKeysAnswerShape>): string {
  return keys
    .toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1))
    .map(
      ({ keyId, validFrom, seqFrom, revoked }) =>
        `${keyId === inUse ? '*' : ' '} ${keyId}  from ${validFrom}, record ${seqFrom}${revokedText(revoked)}`,
    )
    .join('\n');
}

function revokedText(revoked: Static<typeof SigningKeysAnswerShape>['keys'][number]['revoked']): string {
  if (revoked === null) return '';
  const { compromisedSince, inForceSince } = revoked;
  const what = compromisedSince === null ? 'rotated' : `compromised since ${compromisedSince}`;
  return `  revoked, ${what}, ${inForceSince === null ? 'not in force yet' : `in force since ${inForceSince}`}`;
}

/**
 * Crash order: no node starts while the files are replaced, as its store is held, so that none reads some of them
 * before and some after.
 */
async function encrypt(target: Target, file: string, terminal: Terminal): Promise<NodeKeyExit> {
  try {
    const running = await signOfRunning(target);
    if (running !== null) {
      terminal.err(`node-key: ${running}`);
      return 1;
    }
    await using _held = await holdStore(target.node);
    const written = await encryptHome(target.node, await homePassphrase(), await readPassphrase(file));
    terminal.out(written.length === 0 ? 'all key files are under that passphrase already' : written.join('\n'));
    return 0;
  } catch (error) {
    const isTold = [KeyFileError, PassphraseError, StoreError].some((kind) => error instanceof kind);
    if (!(error instanceof Error) || !(isTold || 'code' in error)) throw error;
    terminal.err(`node-key: ${error.message}`);
    return 1;
  }
}

/** Why a node cannot be taken for stopped; null where none listens. A node that answers wrongly or not at all runs. */
async function signOfRunning(target: Target): Promise<string | null> {
  try {
    await ask(target, { method: 'GET', path: '/signing-keys', answer: SigningKeysAnswerShape });
    return 'the node runs; stop it first';
  } catch (error) {
    return isNodeAbsent(error) ? null : `a process listens on ${target.socket}, stop it first: ${reasonOf(error)}`;
  }
}

/** Keeps nodes out of a home until it is disposed of; null where no node has started on it yet. Throws `StoreError`. */
async function holdStore(home: string): Promise<StoreView | null> {
  try {
    return await StoreView.open(home);
  } catch (error) {
    if (error instanceof FsckError && error.code === 'no-store') return null;
    const isLocked = error instanceof StoreError && error.code === 'locked';
    throw isLocked ? new StoreError('locked', `a process has the store of ${home} open; stop it first`, error) : error;
  }
}

function toldOf<Answer extends object>(outcome: Outcome<Answer>, words: (answer: Answer) => string): Outcome<Told> {
  return outcome.ok ? { ...outcome, answer: told(outcome.answer, words(outcome.answer)) } : outcome;
}

function told(answer: object, words: string): Told {
  return { words, json: JSON.stringify(answer) };
}

function refused(
  { node, error, taken }: Extract<Outcome<unknown>, { readonly ok: false }>,
  terminal: Terminal,
): NodeKeyExit {
  terminal.err(`node-key: ${node}: ${error}${taken ? ': npm run node-key -- show tells what came of it' : ''}`);
  return 1;
}
