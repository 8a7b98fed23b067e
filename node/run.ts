import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import pino from 'pino';
import { RosterError } from '../protocol/log/roster-error.ts';
import { LedgerConfigError } from './anchoring/ledger/config.ts';
import { requireLedgerKeys } from './anchoring/ledger/ledger-key.ts';
import { startApp } from './app.ts';
import { requireCommandLine } from './config/command-line.ts';
import { configOf, type NodeConfig } from './config/config.ts';
import { readEnvironment } from './config/environment.ts';
import { ConfigError } from './config/read-variable.ts';
import { openContext } from './context.ts';
import { MembershipError } from './federation/own-membership.ts';
import { KeyFileError } from './keys/key-file.ts';
import { PassphraseError } from './keys/passphrase.ts';
import { boundHeapGrowth } from './metrics/heap-growth.ts';
import { RosterFileError } from './log/members/given-rosters.ts';
import { PressedHeap } from './metrics/pressed-heap.ts';
import { RestingHeap } from './metrics/resting-heap.ts';
import { SourcesError } from './services/regulatory-feed/sources.ts';
import { StoreError } from './store/store.ts';
import { PeerListenError } from './transport/errors.ts';
import { rereadLedger } from './wiring/key-services.ts';

// Registered before anything opens: a signal during the start still ends the node in order.
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
// A node that a supervisor started goes with it, however the supervisor went.
process.once('disconnect', () => stop.abort());
// It may have gone while this file was loaded; undefined where there never was one.
if (process.connected === false) stop.abort();

/** What a start fails by where something that the settings name cannot be used, or does not go with them. */
const WRONG_SETTINGS = [
  ConfigError,
  LedgerConfigError,
  MembershipError,
  RosterFileError,
  RosterError,
  KeyFileError,
  PassphraseError,
  SourcesError,
  PeerListenError,
];
const USAGE = 'usage: npm run node [-- --reread-ledger]';

// An unknown flag is said in one line, and starts nothing.
const { values: flags } = requireCommandLine(USAGE, { 'reread-ledger': { type: 'boolean', default: false } });
const config = readConfig();
const log = pino({ level: config.logLevel, base: { node: config.id } });
try {
  await requireLedgerKeys(config.ledger);
  if (flags['reread-ledger']) await rereadLedger(config, log);
  await using context = await openContext(config, log);
  await using app = await startApp(context, stop.signal);
  boundHeapGrowth();
  using _restingHeap = new RestingHeap();
  using _pressedHeap = new PressedHeap();
  process.send?.({ ready: true, httpPort: app.httpPort });
  // Where NODE_COMPILE_CACHE names a folder: the next start finds the sources compiled, however this process ends.
  flushCompileCache();
  void context.pages.prepare();
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
  log.info('the node is stopping');
} catch (error) {
  if (error instanceof StoreError && error.code !== 'write-failed') {
    log.fatal(`${config.home}: ${error.message}`);
    process.exitCode = 1;
  } else if (isWrongSetting(error)) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } else if (!stop.signal.aborted) throw error;
  // A start that was given up is no failure.
}
// The ledger SDK keeps a timer for some seconds; everything of ours is closed.
process.exit();

function isWrongSetting(error: unknown): error is Error {
  return WRONG_SETTINGS.some((kind) => error instanceof kind);
}

/** What the operator set wrongly is said in one line. */
function readConfig(): NodeConfig {
  try {
    return configOf(readEnvironment());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
