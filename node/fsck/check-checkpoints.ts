import type { Sha256Hash } from '../../protocol/hash.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { hasMember, type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import {
  checkpointTable,
  FALSE_KEYS_OF_A_MEMBER,
  FALSE_OF_A_KEY,
  falseCheckpointTable,
  KEYS_OF_A_MEMBER,
  replacedCheckpointTable,
} from '../log/checkpoint-store.ts';
import { rosterTextTable } from '../log/log-tables.ts';
import { type Check, checkSigned } from './check.ts';
import type { LogWalk } from './log-walk.ts';
import { readRows } from './rows.ts';

/** Checkpoints of one member that are kept as evidence against it. */
const FALSE_OF_A_MEMBER = FALSE_KEYS_OF_A_MEMBER * FALSE_OF_A_KEY;

type CheckpointTable = typeof checkpointTable;

/** Sizes of all checkpoints that the store has: the roots that they are compared with. */
export async function checkpointSizes({ store }: Check): Promise<ReadonlySet<number>> {
  const sizes = new Set<number>();
  for (const table of [checkpointTable, falseCheckpointTable, replacedCheckpointTable]) {
    for await (const [, bytes] of store.range({ gte: `${table.name}/`, lt: `${table.name}0` })) {
      try {
        sizes.add(checkpointStatement.parse(table.decode(bytes).text).size);
      } catch {
        // It is reported when it is checked.
      }
    }
  }
  return sizes;
}

/**
 * Checkpoints: signed by a certified key of the member that they stand under, of this federation; their root is that of
 * the recomputed tree, and of a false one it is not. Those of replaced rosters: of a member of that roster, and they
 * cover the decision that replaced it.
 */
export async function checkCheckpoints(check: Check, state: DecisionState | undefined, walk: LogWalk): Promise<void> {
  const countedKey = ({ node, keyId }: Checkpoint) => checkpointTable.key(node, keyId);
  await checkTable(check, checkpointTable, KEYS_OF_A_MEMBER, countedKey, (key, checkpoint) => {
    check.report.count('checkpoints');
    const root = walk.rootAt(checkpoint.size);
    if (root === undefined) {
      problem(check, checkpointTable, key, `covers ${checkpoint.size} decisions, which are not here`);
    } else if (root !== checkpoint.root) {
      problem(check, checkpointTable, key, `has another root than the ${checkpoint.size} decisions that it covers`);
    }
    checkFederation(check, checkpointTable, key, checkpoint, state);
  });
  const falseKey = ({ node, keyId, size }: Checkpoint) => falseCheckpointTable.key(node, keyId, size);
  await checkTable(check, falseCheckpointTable, FALSE_OF_A_MEMBER, falseKey, (key, checkpoint) => {
    check.report.count('falseCheckpoints');
    const root = walk.rootAt(checkpoint.size);
    if (root === undefined) {
      problem(check, falseCheckpointTable, key, `covers ${checkpoint.size} decisions, which are not here`);
    } else if (root === checkpoint.root) {
      problem(check, falseCheckpointTable, key, 'has the root of the decisions that it covers: it is not false');
    }
    checkFederation(check, falseCheckpointTable, key, checkpoint, state);
  });
  await checkReplaced(check, state, walk);
}

async function checkReplaced(check: Check, state: DecisionState | undefined, walk: LogWalk): Promise<void> {
  for await (const { key, parts, value } of readRows(check, replacedCheckpointTable)) {
    const checkpoint = value && open(check, replacedCheckpointTable, key, value);
    if (checkpoint === undefined) continue;
    check.report.count('replacedCheckpoints');
    const version = Number(parts[0]);
    const { node, size, root } = checkpoint;
    if (key !== replacedCheckpointTable.key(version, node)) {
      problem(check, replacedCheckpointTable, key, `holds a checkpoint of ${node}`);
    }
    if (walk.rootAt(size) !== root) {
      problem(check, replacedCheckpointTable, key, `has another root than the ${size} decisions that it covers`);
    }
    const until = state?.rosters[version]?.index;
    const roster = await rosterOf(check, state?.rosters[version - 1]?.hash);
    if (until === undefined || until === null || size <= until) {
      problem(check, replacedCheckpointTable, key, `does not cover the decision that replaced roster ${version}`);
    }
    if (roster !== undefined && !hasMember(roster, node)) {
      problem(check, replacedCheckpointTable, key, `is of a node that roster ${version} does not name`);
    }
    checkFederation(check, replacedCheckpointTable, key, checkpoint, state);
  }
}

/** Undefined where its text is not here or does not read, which is reported with the log. */
async function rosterOf({ store }: Check, hash: Sha256Hash | undefined): Promise<Roster | undefined> {
  if (hash === undefined) return undefined;
  try {
    const text = await rosterTextTable.get(store, hash);
    return text === undefined ? undefined : rosterStatement.parse(text);
  } catch {
    return undefined;
  }
}

async function checkTable(
  check: Check,
  table: CheckpointTable,
  most: number,
  keyOf: (checkpoint: Checkpoint) => string,
  judge: (key: string, checkpoint: Checkpoint) => void,
): Promise<void> {
  let node: string | undefined;
  let count = 0;
  for await (const { key, parts, value } of readRows(check, table)) {
    count = parts[0] === node ? count + 1 : 1;
    node = parts[0];
    if (count > most) problem(check, table, key, `is one more than the ${most} that are kept of a member`);
    const checkpoint = value && open(check, table, key, value);
    if (checkpoint === undefined) continue;
    if (key !== keyOf(checkpoint)) {
      problem(check, table, key, `holds a checkpoint of ${checkpoint.node} by ${checkpoint.keyId}`);
    }
    judge(key, checkpoint);
  }
}

function open(
  check: Check,
  table: CheckpointTable,
  key: string,
  { text, signature }: SignedCheckpoint,
): Checkpoint | undefined {
  const signed = { statement: text, signature };
  return checkSigned(check, table, key, checkpointStatement, signed, ({ node, keyId }) => ({
    node,
    keyId,
    first: null,
  }));
}

function checkFederation(
  check: Check,
  table: CheckpointTable,
  key: string,
  { federation }: Checkpoint,
  state: DecisionState | undefined,
): void {
  const own = check.keys?.rosters.genesis ?? state?.federation;
  if (own !== undefined && federation !== own) problem(check, table, key, 'is of another federation');
}

function problem({ report }: Check, table: CheckpointTable, key: string, detail: string): void {
  report.problem(table.name, key, detail);
}
