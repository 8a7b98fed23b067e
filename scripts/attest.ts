import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readClusterEnvironment } from '../cluster/environment.ts';
import { readClusterFile } from '../cluster/supervisor/cluster-file.ts';
import { endWithUsageError, requireCommandLine, UsageError } from '../node/config/command-line.ts';
import { confirmAll } from './attest/confirm.ts';
import { readDecisions } from './attest/decision-file.ts';
import { Progress } from './attest/progress.ts';
import { sendAll, SendingStopped } from './attest/send.ts';
import { sameLines } from './attest/sent-lines.ts';
import { defaultStateFile, openState, type State } from './attest/state-file.ts';
import { settleUnknown } from './attest/unanswered.ts';
import { workOnPath } from './command-line.ts';

const USAGE = `npm run attest -- FILE.jsonl [--node eu] [--state FILE] [--recorded N] [--lost N] [--no-wait]

Sends each line of FILE, a body of POST /v1/tiered-attest, to a node of the local cluster, up to 1,000 in a call, and
waits until all are confirmed on the ledger. Interrupted, it goes on where it stopped: no record is sent twice. Lines
may be appended, and one that was refused corrected; a file whose other lines are not those that were sent is refused.
  --node ID      node of the local cluster (eu)
  --url URL      another node, e.g. https://eu.example.org/verify, with --api-key KEY
  --state FILE   where to remember what was sent (a file of its own for each FILE, node and key)
  --recorded N   of what has no answer for so long that a node may not know it again, that which begins at line N is
                 recorded; may be given several times
  --lost N       it is not, and is sent as new lines
  --no-wait      do not wait for the ledger

Exit: 0 all accepted and confirmed · 1 not all · 2 wrong usage, FILE is another than the one that was sent or not
UTF-8, or another run sends by the same state`;
/** Longest wait for the ledger, in milliseconds. */
const CONFIRM_MS = 180_000;

const { values: flags, positionals } = requireCommandLine(
  USAGE,
  {
    node: { type: 'string', default: 'eu' },
    url: { type: 'string' },
    'api-key': { type: 'string' },
    state: { type: 'string' },
    recorded: { type: 'string', multiple: true, default: [] },
    lost: { type: 'string', multiple: true, default: [] },
    'no-wait': { type: 'boolean', default: false },
  },
  { allowPositionals: true },
);
const [given, ...others] = positionals;
if (given === undefined || others.length > 0) endWithUsageError(new UsageError('attest takes one file'));

const file = resolve(given);
const { home } = readClusterEnvironment();
if (!existsSync(file)) endWithUsageError(new UsageError(`${given} does not exist`));
const { nodeUrl, apiKey } = await target().catch((error: unknown) => endWithUsageError(error));
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());

const stateFile = chosenStateFile();
await using state = await workOnPath(stateFile, () => openState(stateFile)).catch((error: unknown) =>
  endWithUsageError(error),
);
const total = await workOnPath(given, () => sameLinesOf(state)).catch((error: unknown) => endWithUsageError(error));
await settleUnknown(state, readDecisions(file), flags).catch((error: unknown) => endWithUsageError(error));
const before = state.accepted.size;
const started = performance.now();
let refused = 0;
const sending = new Progress('accepted ', total);
// Compared once more: the file may have been replaced meanwhile.
await sendAll(sameLines(readDecisions(file), state, stateFile), {
  nodeUrl,
  apiKey,
  state,
  signal: interrupted.signal,
  onAccepted: () => sending.set(state.accepted.size),
  onRefused({ number }, problem) {
    refused++;
    console.error(`\nline ${number} was refused: ${problem}`);
  },
}).catch((error: unknown) => {
  if (!(error instanceof SendingStopped)) return endWithUsageError(error);
  console.error(`\n${error.message}`);
  interrupted.abort();
});
sending.end();
const seconds = (performance.now() - started) / 1000;
const sent = state.accepted.size - before;
console.log(`${total} records: ${sent} accepted now, ${before} before, ${refused} refused`);
if (sent > 0) console.log(`${seconds.toFixed(1)} s, ${Math.round(sent / seconds)} records/s`);

let unconfirmed = 0;
if (!flags['no-wait'] && !interrupted.signal.aborted) {
  const ids = [...state.accepted.values()].filter((id) => id !== null);
  const confirming = new Progress('confirmed', ids.length);
  let confirmed = 0;
  const late = await confirmAll(ids, {
    nodeUrl,
    apiKey,
    deadline: Date.now() + CONFIRM_MS,
    signal: interrupted.signal,
    onConfirmed: () => confirming.set(++confirmed),
  });
  confirming.end();
  unconfirmed = late.length;
  console.log(`${confirmed} of ${ids.length} confirmed on the ledger`);
}
process.exitCode = refused > 0 || unconfirmed > 0 || state.accepted.size < total ? 1 : 0;

function chosenStateFile(): string {
  try {
    return flags.state ?? defaultStateFile(home, { file, node: flags.url ?? flags.node, nodeUrl, apiKey });
  } catch (error) {
    return endWithUsageError(error);
  }
}

/** How many lines the file has. Throws `UsageError` where those that were sent are not in it. */
async function sameLinesOf(remembered: State): Promise<number> {
  let lines = 0;
  for await (const _ of sameLines(readDecisions(file), remembered, stateFile)) lines++;
  return lines;
}

/** Throws `UsageError` where there is no such node. */
async function target(): Promise<{ readonly nodeUrl: string; readonly apiKey: string }> {
  const { url, 'api-key': key } = flags;
  if ((url === undefined) !== (key === undefined)) throw new UsageError('--url and --api-key go together');
  if (url !== undefined && key !== undefined) {
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw new UsageError(`${url} is no http(s) address`);
    return { nodeUrl: url.replace(/\/$/, ''), apiKey: key };
  }
  const cluster = await readClusterFile(home).catch(() => {
    throw new UsageError(`there is no local cluster in ${home}; --url and --api-key name another node`);
  });
  const node = cluster.nodes.find(({ id }) => id === flags.node);
  if (node === undefined) throw new UsageError(`the local cluster has no node ${flags.node}`);
  return { nodeUrl: node.nodeUrl, apiKey: cluster.demo.apiKeys.bench };
}
