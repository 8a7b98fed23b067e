import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import type { Patience } from './conditions.ts';

export const USAGE = `npm run monitor -- --roster FILE [options]

Watches a federation from outside, with no membership and no key: builds the federation's log from the ledger by itself,
compares every member's checkpoints and what nodes show to anyone with it, and writes a proof of every misbehaviour that is
signed. npm run verify judges such a file.

  --roster FILE      the federation's rosters; the genesis is what everything is judged by
  --node URL…        nodes to ask; default: those that the roster in force names
  --mirror URL…      mirrors of the ledger, best of several operators: what two of them say alike is taken, or one and a
                     majority of members; default: the public network's own, or that of the cluster.json beside the
                     roster file
  --state DIR        goes on where it was; without it everything is read again
  --proofs DIR       where proofs are written; default: the working directory
  --metrics PORT     Prometheus metrics at http://127.0.0.1:PORT/metrics
  --interval SECONDS pause between rounds; default 5
  --anchor-within, --quorum-within, --shown-within, --checkpoint-within SECONDS
                     what is told later than that: from sealing to a decision, from there to a quorum that vouches for
                     it, to a node that shows it, to every member's checkpoint; default 60 each
  --once             reads all there is, says what it found, and ends
  --keep-going       goes on after a proof
  --json             one JSON object a line

Exit: 0 ended with no proof · 1 a proof of misbehaviour, of this run or in the state · 2 wrong usage, or a file that
      cannot be read or written · 3 with --once: no proof, but alerts; or not all could be read`;

export interface MonitorArguments {
  readonly roster: string;
  readonly nodes: readonly string[];
  readonly mirrors: readonly string[];
  readonly state: string | null;
  readonly proofs: string;
  readonly metrics: number | null;
  readonly intervalMs: number;
  readonly patience: Patience;
  readonly once: boolean;
  readonly keepGoing: boolean;
  readonly json: boolean;
}

const OPTIONS = {
  roster: { type: 'string' },
  node: { type: 'string', multiple: true },
  mirror: { type: 'string', multiple: true },
  state: { type: 'string' },
  proofs: { type: 'string', default: '.' },
  metrics: { type: 'string' },
  interval: { type: 'string', default: '5' },
  'anchor-within': { type: 'string', default: '60' },
  'quorum-within': { type: 'string', default: '60' },
  'shown-within': { type: 'string', default: '60' },
  'checkpoint-within': { type: 'string', default: '60' },
  once: { type: 'boolean', default: false },
  'keep-going': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const SECOND_MS = 1_000;
const MAX_SECONDS = 86_400;
const MAX_PORT = 65_535;

/** What the command line asks for; null: help. Throws `UsageError`. */
export function readArguments(args: readonly string[]): MonitorArguments | null {
  const { values: flags, positionals } = readCommandLine(args, OPTIONS);
  if (flags.help) return null;
  if (positionals.length > 0) throw new UsageError(`there is no command ${positionals.join(' ')}`);
  if (flags.roster === undefined) throw new UsageError('--roster FILE is missing');
  return {
    roster: flags.roster,
    nodes: (flags.node ?? []).map((url) => addressOf('node', url)),
    mirrors: (flags.mirror ?? []).map((url) => addressOf('mirror', url)),
    state: flags.state ?? null,
    proofs: flags.proofs,
    metrics: flags.metrics === undefined ? null : numberOf('metrics', flags.metrics, MAX_PORT),
    intervalMs: numberOf('interval', flags.interval, MAX_SECONDS) * SECOND_MS,
    patience: {
      anchorMs: numberOf('anchor-within', flags['anchor-within'], MAX_SECONDS) * SECOND_MS,
      quorumMs: numberOf('quorum-within', flags['quorum-within'], MAX_SECONDS) * SECOND_MS,
      bodyMs: numberOf('shown-within', flags['shown-within'], MAX_SECONDS) * SECOND_MS,
      checkpointMs: numberOf('checkpoint-within', flags['checkpoint-within'], MAX_SECONDS) * SECOND_MS,
    },
    once: flags.once,
    keepGoing: flags['keep-going'],
    json: flags.json,
  };
}

function addressOf(flag: string, text: string): string {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return text;
  throw new UsageError(`--${flag} ${text} is no http address`);
}

function numberOf(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number <= most) return number;
  throw new UsageError(`--${flag} ${text} is no number from 0 to ${most}`);
}
