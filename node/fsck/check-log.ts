import { hashText } from '../../protocol/hash.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import { leafHash } from '../../protocol/merkle/hash.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { checkpointTable, falseCheckpointTable, replacedCheckpointTable } from '../log/checkpoint-store.ts';
import {
  decidedBatchTable,
  DECISION_STATE_ROW,
  decisionStateTable,
  logEntryTable,
  logTileTable,
  rosterTextTable,
} from '../log/log-tables.ts';
import { checkCheckpoints, checkpointSizes } from './check-checkpoints.ts';
import type { Check, TableCheck } from './check.ts';
import { IndexWalk } from './index-walk.ts';
import { LogReplay } from './log-replay.ts';
import { LogWalk } from './log-walk.ts';
import { countRows, readRows, reasonOf } from './rows.ts';

/** Names of decided batches that are looked up at once. */
const LOOKED_UP = 512;

const LOG_TABLES = [
  logEntryTable,
  logTileTable,
  decidedBatchTable,
  decisionStateTable,
  rosterTextTable,
  checkpointTable,
  falseCheckpointTable,
  replacedCheckpointTable,
];

/**
 * The federation's log: decisions without gap, each one that the rules allow at its place and whose message comes to
 * its running hash from the one before, which is stored with it; every tile recomputed from them leaf by leaf, the
 * state that they come to, and checkpoints of its members against the recomputed roots. Memory grows with rosters,
 * members and revocations, not with decisions.
 */
export const logCheck: TableCheck = {
  tables: LOG_TABLES,
  async run(check) {
    const stored = await readState(check);
    if (stored === undefined && !(await hasRows(check))) return;
    await checkRosterTexts(check, stored);
    const genesis = await genesisText(check, stored);
    const replay = genesis === undefined ? null : openReplay(check, genesis);
    const walk = new LogWalk(check, await checkpointSizes(check));
    await checkEntries(check, replay, walk);
    await walk.finish();
    if (stored !== undefined) checkState(check, stored, replay, walk);
    await checkCheckpoints(check, stored, walk);
  },
};

async function hasRows(check: Check): Promise<boolean> {
  for (const table of LOG_TABLES) if ((await countRows(check, table)) > 0) return true;
  return false;
}

async function readState(check: Check): Promise<DecisionState | undefined> {
  let state: DecisionState | undefined;
  let rows = 0;
  for await (const { key, value } of readRows(check, decisionStateTable)) {
    if (key === decisionStateTable.key(DECISION_STATE_ROW)) {
      state = value;
      rows++;
    } else check.report.problem(decisionStateTable.name, key, 'belongs to nothing');
  }
  if (rows === 0 && (await hasRows(check))) {
    check.report.problem(decisionStateTable.name, decisionStateTable.key(DECISION_STATE_ROW), 'is missing');
  }
  return state;
}

/** Each under its own hash, and all that are in force are here. */
async function checkRosterTexts(check: Check, stored: DecisionState | undefined): Promise<void> {
  const { report, store } = check;
  for await (const { key, value } of readRows(check, rosterTextTable)) {
    if (value === undefined) continue;
    report.count('logRosters');
    if (key !== rosterTextTable.key(hashText(nativeSuite, value))) {
      report.problem(rosterTextTable.name, key, 'is not the hash of its text');
    }
    try {
      rosterStatement.parse(value);
    } catch (error) {
      report.problem(rosterTextTable.name, key, reasonOf(error));
    }
  }
  for (const { hash } of stored?.rosters ?? []) {
    const key = rosterTextTable.key(hash);
    if ((await store.get(key)) === undefined) report.problem(rosterTextTable.name, key, 'is missing');
  }
}

/** Of the federation that the rosters found; where they found none, of the one that the log is of. */
async function genesisText({ keys, store }: Check, stored: DecisionState | undefined): Promise<string | undefined> {
  const founding = keys?.rosters.texts[0];
  if (founding !== undefined || stored === undefined) return founding;
  return rosterTextTable.get(store, stored.federation).catch(() => undefined);
}

function openReplay({ report }: Check, text: string): LogReplay | null {
  try {
    return new LogReplay(text);
  } catch (error) {
    report.problem(rosterTextTable.name, null, `the genesis roster is none: ${reasonOf(error)}`);
    return null;
  }
}

/** Entries from 0 on, to the leaves, the rules, the topic's running hashes and the index of batches. */
async function checkEntries(check: Check, replay: LogReplay | null, walk: LogWalk): Promise<void> {
  const { report } = check;
  const index = new IndexWalk(check, decidedBatchTable);
  const problem = (key: string, detail: string) => report.problem(logEntryTable.name, key, detail);
  let names: { readonly key: string; readonly value: number }[] = [];
  let next = 0;
  let isGapless = true;
  for await (const { key, value } of readRows(check, logEntryTable)) {
    if (key !== logEntryTable.key(next)) {
      if (isGapless) problem(key, `entry ${next} should stand here`);
      isGapless = false;
      replay?.skip();
    }
    next++;
    if (value === undefined) replay?.skip();
    if (value === undefined || !isGapless) {
      isGapless = false;
      continue;
    }
    report.count('decisions');
    await walk.take(leafHash(nativeSuite, value.text));
    const decision = readDecision(check, key, value.text, next - 1);
    if (decision === undefined || replay === null) {
      replay?.skip();
      continue;
    }
    const { named, faults } = replay.take(decision, value.before, await rosterTextOf(check, decision));
    for (const fault of faults) problem(key, fault);
    if (named === null) continue;
    if (named.type === 'batch') {
      names.push({ key: decidedBatchTable.key(named.node, named.batch), value: decision.index });
    }
    if (names.length >= LOOKED_UP) {
      await index.expect(names);
      names = [];
    }
  }
  await index.expect(names);
  await index.finish(({ parts, value }) => isDecided(check, parts, value), 'decision');
}

function readDecision({ report }: Check, key: string, text: string, index: number): Decision | undefined {
  try {
    const decision = decisionText.parse(text);
    if (decision.index !== index) report.problem(logEntryTable.name, key, `holds entry ${decision.index}`);
    return decision.index === index ? decision : undefined;
  } catch (error) {
    report.problem(logEntryTable.name, key, reasonOf(error));
    return undefined;
  }
}

/** Undefined where it is not here, or is not of its hash, which is then reported. */
async function rosterTextOf({ store }: Check, decision: Decision): Promise<string | undefined> {
  const hash = LogReplay.rosterOf(decision);
  if (hash === null) return undefined;
  const text = await rosterTextTable.get(store, hash).catch(() => undefined);
  return text !== undefined && hashText(nativeSuite, text) === hash ? text : undefined;
}

async function isDecided({ store }: Check, parts: readonly string[], value: number | undefined): Promise<boolean> {
  if (value === undefined || value < 0) return false;
  const entry = await logEntryTable.get(store, value).catch(() => undefined);
  if (entry === undefined) return false;
  try {
    const named = parseLedgerMessage(decisionText.parse(entry.text).message);
    return named.type === 'batch' && decidedBatchTable.key(...parts) === decidedBatchTable.key(named.node, named.batch);
  } catch {
    return false;
  }
}

function checkState({ report, keys }: Check, stored: DecisionState, replay: LogReplay | null, walk: LogWalk): void {
  const key = decisionStateTable.key(DECISION_STATE_ROW);
  const problem = (detail: string) => report.problem(decisionStateTable.name, key, detail);
  if (keys !== null && stored.federation !== keys.rosters.genesis) problem('is of another federation');
  if (stored.size !== walk.size) problem(`says ${stored.size} decisions, where ${walk.size} entries are whole`);
  for (const fault of replay?.stateFaults(stored) ?? []) problem(fault);
}
