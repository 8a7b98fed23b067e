import { resolve } from 'node:path';
import type { Static } from 'typebox';
import { readCommandLine, UsageError, usageLine } from '../../node/config/command-line.ts';
import { BackupError, leftovers } from '../../node/fsck/backup/folder.ts';
import { restoreBackup } from '../../node/fsck/backup/restore-backup.ts';
import type { ProvedBackup } from '../../node/fsck/backup/take-backup.ts';
import { PassphraseError, readPassphrase } from '../../node/keys/passphrase.ts';
import { RestorationsAnswerShape } from '../../node/operator/backup-forms.ts';
import { type FlagsOf, requireNodeOrHome } from '../command-line.ts';
import { ask, outcomeOf } from '../key/ask.ts';
import { findTargets } from '../key/targets.ts';

/** 0 restored, or the node signs again · 1 not restored, or the node waits · 2 wrong usage. */
export type RestoreExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

const USAGE = `npm run restore -- BACKUP --home DIR [--passphrase-file FILE]
npm run restore -- --status (--home DIR | --node ID) [--json]

  BACKUP        folder that npm run backup made
  --home DIR    folder that becomes the node's home; there is none yet, or an empty one
  --passphrase-file FILE   opens the backup's key files for fsck; without it they are not opened
  --status      whether the running node of a restored home signs again, what it waits for, what was lost

Every file is held against its hash and the whole is proved by fsck before the home appears. A node that starts on it
answers 503 (signer "recovering"), like every node that starts, until the ledger and the other members have told how far
its chain went since the copy.
Exit: 0 done, or it signs · 1 refused, or it waits · 2 wrong usage`;

const OPTIONS = {
  home: { type: 'string' },
  node: { type: 'string' },
  'passphrase-file': { type: 'string' },
  status: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** The `restore` command. */
export async function restoreCommand(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<RestoreExit> {
  try {
    const { values: flags, positionals } = readCommandLine(args, OPTIONS);
    if (flags.help === true) {
      terminal.out(USAGE);
      return 0;
    }
    if (flags.status === true) return await showStatus(flags, terminal);
    const [from, ...rest] = positionals;
    if (from === undefined || rest.length > 0) throw new UsageError('name one backup');
    if (flags.home === undefined) throw new UsageError('--home is missing');
    const home = resolve(flags.home);
    for (const path of await leftovers(home)) terminal.err(`restore: ${path} was left by an attempt cut short`);
    const file = flags['passphrase-file'];
    const passphrase = file === undefined ? null : await readPassphrase(file);
    terminal.out(words(home, await restoreBackup({ from: resolve(from), home, passphrase, signal })));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(usageLine(error, 'restore'));
      return 2;
    }
    const isRefusal = error instanceof BackupError || error instanceof PassphraseError || isSystem(error);
    if (!isRefusal && !signal.aborted) throw error;
    terminal.err(`restore: ${isRefusal ? error.message : 'stopped before the end'}`);
    return 1;
  }
}

type Flags = FlagsOf<typeof OPTIONS>;

function isSystem(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}

async function showStatus(flags: Flags, terminal: Terminal): Promise<RestoreExit> {
  requireNodeOrHome(flags);
  const { home, node, json } = flags;
  const [target] = await findTargets(home, node === undefined ? [] : [node]);
  if (target === undefined) throw new UsageError('there is no such node');
  const question = { method: 'GET', path: '/restorations', answer: RestorationsAnswerShape } as const;
  const outcome = await outcomeOf(target, ask(target, question));
  if (!outcome.ok) {
    terminal.err(`restore: ${outcome.node}: ${outcome.error}`);
    return 1;
  }
  terminal.out(json === true ? JSON.stringify(outcome.answer) : statusWords(outcome.answer));
  return outcome.answer.recovering ? 1 : 0;
}

function words(home: string, { manifest, notChecked }: ProvedBackup): string {
  const { node, copy, withKeys } = manifest;
  return [
    `${home} is the home of ${node} as of ${copy.takenAt}, proved by fsck`,
    withKeys ? 'its keys are in it' : `put its keys into ${home}/keys before it starts`,
    'it signs nothing until the ledger and the other members have told how far its chain went since: npm run restore -- --status',
    'see to it that the node it was copied from never runs again',
    ...notChecked.map((what) => `not checked: ${what}`),
  ].join('\n');
}

type Status = Static<typeof RestorationsAnswerShape>;

function statusWords({ node, recovering, waits, restorations, copiedKeys }: Status): string {
  if (restorations.length === 0 && !recovering) return `${node} was never restored`;
  return [
    recovering ? `${node} signs nothing yet` : `${node} signs`,
    ...waits.map(waitWords),
    ...restorations.flatMap(({ takenAt, held, settled }) => [
      `copy of ${takenAt}: it ended at batch ${held.batch}`,
      ...(settled === null
        ? []
        : [
            `  since ${settled.at} the node goes on after batch ${settled.end.batch}, record ${settled.end.next - 1}`,
            `  told by ${settled.peers.join(', ') || 'no peer'}, and the ledger up to message ${settled.sequence}`,
            `  lost: what was acknowledged after ${settled.sealedAt ?? 'the beginning'} and is in no batch; payloads, accounts`,
            `  and API keys of after ${takenAt}. Records up to ${settled.end.next - 1} are whole, payloads taken since count as erased`,
          ]),
    ]),
    ...(copiedKeys === 0
      ? []
      : [
          `${copiedKeys} API keys in force are as old as the last copy: those that were revoked since are in force again`,
          '  compare npm run key -- list with what their holders know, and revoke or rotate them',
        ]),
  ].join('\n');
}

function waitWords(wait: Status['waits'][number]): string {
  switch (wait.for) {
    case 'members':
      return [
        `  waits for ${wait.missing.join(', ')}: ${wait.answered.join(', ') || 'no other member'} answered`,
        `  after ${wait.until} ${wait.needed} answers are enough. START_ALONE=1 is your word that this is no copy`,
      ].join('\n');
    case 'time':
      return `  waits until ${wait.until}: nothing from before can reach the ledger then. START_ALONE=1 is your word that this is no copy`;
    case 'ledger':
      return '  waits for the ledger: its topic was not read to the end yet';
    case 'batches':
      return `  waits for batches: the chain goes to batch ${wait.known} or further, it holds ${wait.held}`;
    case 'decision':
      return `  waits for the ledger to decide batch ${wait.batch}, which was taken back`;
    case 'other':
      return `  another process signs as this node: batch ${wait.batch} was sealed ${wait.sealedAt}. Stop it, and start anew`;
  }
}
