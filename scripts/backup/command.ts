import { dirname, resolve } from 'node:path';
import { readCommandLine, UsageError, usageLine } from '../../node/config/command-line.ts';
import { BackupError, leftovers } from '../../node/fsck/backup/folder.ts';
import { type BackupProgress, takeBackup, type ProvedBackup } from '../../node/fsck/backup/take-backup.ts';
import { ProgressLine, type ProgressOutput } from '../../node/fsck/progress-line.ts';
import { PassphraseError, readPassphrase } from '../../node/keys/passphrase.ts';
import { CopyStoreAnswerShape } from '../../node/operator/backup-forms.ts';
import { isNodeAbsent, OperatorError } from '../../node/operator/operator-client.ts';
import { StoreError } from '../../node/store/store.ts';
import { type FlagsOf, requireNodeOrHome } from '../command-line.ts';
import { ask } from '../key/ask.ts';
import { findTargets, type Target } from '../key/targets.ts';
import { copyStopped } from './stopped-node.ts';

/** 0 a whole backup is there · 1 none was made · 2 wrong usage. */
export type BackupExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Where it is shown how far the backup is. Default: nowhere. */
  readonly progress?: ProgressOutput;
}

const USAGE = `npm run backup -- (--node ID | --home DIR) --to DIR [--with-keys [--passphrase-file FILE]] [--quiet] [--json]

  --node ID      a node of the local cluster
  --home DIR     instead: the home of a node on this machine (NODE_HOME), running or stopped
  --to DIR       folder that the backup becomes; there is none yet. The node writes there too
  --with-keys    the key files go along, encrypted: plain ones are put under --passphrase-file
  --quiet        shows no progress
  --json         one JSON object instead of words

A running node goes on taking records: the copy is what its store is at one moment. It is proved by fsck, and the folder
appears once all of it is on the disk. Without --with-keys the keys are to be kept elsewhere: no backup replaces them.
Exit: 0 done · 1 refused, not whole, or the node does not answer · 2 wrong usage`;

/** Longest silence of a node that copies its store. In milliseconds. */
const COPY_MS = 6 * 3_600_000;
const MEBIBYTE = 1 << 20;
const OPTIONS = {
  node: { type: 'string' },
  home: { type: 'string' },
  to: { type: 'string' },
  'with-keys': { type: 'boolean' },
  'passphrase-file': { type: 'string' },
  quiet: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** The `backup` command. */
export async function backupCommand(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<BackupExit> {
  try {
    const { values: flags, positionals } = readCommandLine(args, OPTIONS);
    if (flags.help === true) {
      terminal.out(USAGE);
      return 0;
    }
    if (positionals.length > 0) throw new UsageError(`what is ${positionals.join(' ')}?`);
    const { target, to, keys } = await wishOf(flags);
    for (const path of await leftovers(to)) terminal.err(`backup: ${path} was left by an attempt cut short`);
    const taken = await backUp(target, to, keys, signal, flags.quiet === true ? undefined : terminal.progress);
    terminal.out(flags.json === true ? JSON.stringify(asJson(to, taken)) : words(to, taken));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(usageLine(error, 'backup'));
      return 2;
    }
    const reason = signal.aborted ? 'stopped before the end' : refusalOf(error);
    if (reason === null) throw error;
    terminal.err(`backup: ${reason}`);
    return 1;
  }
}

type Flags = FlagsOf<typeof OPTIONS>;

async function wishOf(flags: Flags) {
  const { node, home, to } = flags;
  requireNodeOrHome(flags);
  if (to === undefined || to === '') throw new UsageError('--to is missing');
  const [target] = await findTargets(home === undefined ? undefined : resolve(home), node === undefined ? [] : [node]);
  if (target === undefined) throw new UsageError('there is no such node');
  const { 'passphrase-file': file, 'with-keys': withKeys = false } = flags;
  if (file !== undefined && !withKeys) throw new UsageError('--passphrase-file is for --with-keys');
  const passphrase = file === undefined ? null : await readPassphrase(file);
  return { target, to: resolve(to), keys: withKeys ? { passphrase } : null };
}

type Wish = Awaited<ReturnType<typeof wishOf>>;

async function backUp(
  target: Target,
  to: string,
  keys: Wish['keys'],
  signal: AbortSignal,
  output: ProgressOutput | undefined,
): Promise<ProvedBackup> {
  const home = dirname(target.socket);
  using progress = output && new ShownProgress(output);
  return takeBackup({
    home,
    to,
    keys,
    signal,
    ...(progress === undefined ? {} : { progress }),
    async copyStore(directory) {
      const question = { method: 'POST', path: '/store-copies', answer: CopyStoreAnswerShape } as const;
      try {
        return await ask(target, { ...question, body: { directory }, answerMs: COPY_MS });
      } catch (error) {
        // No process listens there: the node is stopped. Should it start now, its store is locked to one of the two.
        if (isNodeAbsent(error)) return copyStopped(home, directory, signal);
        throw error;
      }
    },
  });
}

/** Two bars one after the other: the copy, and its proof. */
class ShownProgress implements BackupProgress, Disposable {
  readonly #output: ProgressOutput;
  readonly #copied: ProgressLine;
  #proved: ProgressLine | undefined;

  constructor(output: ProgressOutput) {
    this.#output = output;
    this.#copied = new ProgressLine(output, 'MiB copied');
  }

  readonly onCopied = (bytes: number, all: number): void => {
    this.#copied.show(Math.floor(bytes / MEBIBYTE), Math.ceil(all / MEBIBYTE));
  };

  readonly onProved = (records: number, all: number): void => {
    this.#copied.clear();
    this.#proved ??= new ProgressLine(this.#output, 'records proved');
    this.#proved.show(records, all);
  };

  [Symbol.dispose](): void {
    this.#copied.clear();
    this.#proved?.clear();
  }
}

function refusalOf(error: unknown): string | null {
  if (error instanceof OperatorError) return error.detail;
  const isOurs = error instanceof BackupError || error instanceof PassphraseError || error instanceof StoreError;
  if (isOurs) return error.message;
  return error instanceof Error && 'code' in error ? error.message : null;
}

function asJson(to: string, { manifest, notChecked }: ProvedBackup) {
  return { to, ...manifest, files: manifest.files.length, notChecked };
}

function words(to: string, { manifest, notChecked }: ProvedBackup): string {
  const { node, copy, withKeys, files } = manifest;
  const { takenAt, held, unsealed, rows } = copy;
  return [
    `${to} is a whole backup of ${node} as of ${takenAt}: ${rows} rows in ${files.length} files, proved by fsck`,
    `its chain ends at batch ${held.batch}, and ${unsealed} records after it are in no batch yet`,
    withKeys
      ? 'the keys are in it, encrypted'
      : 'no key is in it: without identity.key and payload.key it restores no node',
    ...notChecked.map((what) => `not checked: ${what}`),
  ].join('\n');
}
