import { readCommandLine, UsageError } from '../../node/config/command-line.ts';

/** What pins where nothing is given. */
const UNPINNED = 'by roster.json in MERIDIAN_HOME (.meridian/ of the repository) where there is one, and says so';

/** The help of the command, as it is called. `home`: that of the local cluster, null where there is none. */
export const usage = (
  program: string,
  home: string | null,
): string => `${program} FILE|DIR… [--roster FILE|sha256:…|'24 words'] [--revocations FILE] [--json] [--html FILE]

Verifies bundles, public proofs, packs of evidence (ZIP) and proofs of misbehaviour with no network; of a folder, every *.json in
it. The federation is pinned by a file of rosters (what roster -- show --decisions writes, of which the last is the pin) or by
the hash of any of its rosters, or the 24 words of it; without any, ${home === null ? 'nothing is verified' : UNPINNED}.
A file carries the revocations that were known when it was made; --revocations brings later ones: {revocations, checkpoints,
keys}. The marks of evidence-rules/1 say what is recorded; they do not change the exit code. --json prints one line a file;
--html writes a page to read and print.
Exit: 0 verified, or proven · 1 does not hold · 2 unreadable, or usage · 3 consistent, but nothing pinned it · 4 not on the
ledger yet, or the ledger is still to be read · 5 no quorum, or a stale one. Of several files the worst, in the order 2, 1, 5, 4, 3, 0`;

export interface Arguments {
  /** Files and folders, at least one. */
  readonly targets: readonly string[];
  /** A file, or the hash of a roster; null where none is given. */
  readonly roster: string | null;
  readonly revocations: string | null;
  readonly json: boolean;
  /** File that the report is written to as a page; null where none is asked for. */
  readonly html: string | null;
}

/** Reads the command line; `help` where that is all it asks for. Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments | 'help' {
  const { values, positionals } = readCommandLine(args, {
    roster: { type: 'string' },
    revocations: { type: 'string' },
    json: { type: 'boolean' },
    html: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  const { help, roster = null, revocations = null, json = false, html = null } = values;
  if (help === true) return 'help';
  if (positionals.length === 0) throw new UsageError('which bundle?');
  return { targets: positionals, roster, revocations, json, html };
}
