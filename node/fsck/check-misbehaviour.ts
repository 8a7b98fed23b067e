import { hashBytes, writeSha256 } from '../../protocol/hash.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import { type BatchMessage, parseLedgerMessage } from '../../protocol/log/message.ts';
import { rootFromPath } from '../../protocol/merkle/inclusion.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import { namedForOtherTable } from '../anchoring/others-limits.ts';
import { rescueOutboxTable, type RescueRow } from '../anchoring/outbox.ts';
import { equivocationTable, openEnvelope } from '../federation/equivocations.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { decidedBatchTable, DECISION_STATE_ROW, decisionStateTable, logEntryTable } from '../log/log-tables.ts';
import { heldAtRemovalTable } from '../log/rescue.ts';
import { type LedgerName, rivalNameTable } from '../log/rival-name.ts';
import { receiptNotKeptTable } from '../verification/receipts-not-kept.ts';
import { stateFaults } from './check-outbox.ts';
import { type Check, checkSigned, type TableCheck } from './check.ts';
import { readRows, reasonOf } from './rows.ts';

const NAMED_KINDS: readonly string[] = ['rescue', 'revocation'];
/** Kind, and the node that was named for. */
const COUNT_PARTS = 2;

/** Batches of other nodes on their way to the ledger, each in a state that its lifecycle allows, and how many a day. */
export const rescueCheck: TableCheck = {
  tables: [rescueOutboxTable, namedForOtherTable, heldAtRemovalTable],
  async run(check) {
    for await (const { key, value } of readRows(check, rescueOutboxTable)) {
      if (value === undefined) continue;
      for (const fault of rescueFaults(value)) check.report.problem(rescueOutboxTable.name, key, fault);
      if (key !== rescueOutboxTable.key(value.rescued, value.number)) {
        check.report.problem(rescueOutboxTable.name, key, 'stands under another key');
      }
      check.report.count('rescuesOpen');
    }
    for await (const { key, parts } of readRows(check, namedForOtherTable)) {
      const isKnown = parts.length === COUNT_PARTS && NAMED_KINDS.includes(parts[0] ?? '');
      if (!isKnown) check.report.problem(namedForOtherTable.name, key, 'is no key of this table');
    }
    for await (const { key, parts } of readRows(check, heldAtRemovalTable)) {
      if (parts.length !== 1) check.report.problem(heldAtRemovalTable.name, key, 'is no key of this table');
    }
  },
};

function rescueFaults(row: RescueRow): string[] {
  const faults = stateFaults(row, false);
  return isNamedBy(row) ? faults : [...faults, 'its message does not name that batch'];
}

function isNamedBy({ rescued, number, message }: RescueRow): boolean {
  try {
    const named = parseLedgerMessage(message);
    return named.type === 'batch' && named.node === rescued && named.batch === number;
  } catch {
    return false;
  }
}

/** Receipts that a decided batch does not keep: signed by their node, and over the leaf that they are kept for. */
export const receiptCheck: TableCheck = {
  tables: [receiptNotKeptTable],
  async run(check) {
    const { report } = check;
    for await (const { key, parts, value } of readRows(check, receiptNotKeptTable)) {
      if (value === undefined) continue;
      const { statement, signature, leaf, path } = value;
      const signed = { statement, signature };
      const group = checkSigned(check, receiptNotKeptTable, key, groupStatement, signed, ({ node, keyId, first }) => ({
        node,
        keyId,
        first,
      }));
      if (group === undefined) continue;
      report.count('receiptsNotKept');
      const seq = Number(parts[1]);
      const root = rootFromPath(nativeSuite, hashBytes(leaf), seq - group.first, group.size, path.map(hashBytes));
      if (key !== receiptNotKeptTable.key(group.node, seq)) {
        report.problem(receiptNotKeptTable.name, key, `is a receipt of ${group.node}`);
      } else if (root === null || writeSha256(root) !== group.root) {
        report.problem(receiptNotKeptTable.name, key, 'does not walk to the root of the receipt');
      }
    }
  },
};

/** Proofs of equivocation: two different envelopes for one batch, both signed by its node. */
export const equivocationCheck: TableCheck = {
  tables: [equivocationTable],
  async run(check) {
    const { report, keys } = check;
    for await (const { key, value } of readRows(check, equivocationTable)) {
      if (value === undefined || keys === null) continue;
      try {
        const first = openEnvelope(keys, value.first);
        const second = openEnvelope(keys, value.second);
        const isRival = value.first.statement !== value.second.statement;
        if (!isRival || first.node !== second.node || first.batch !== second.batch) {
          report.problem(equivocationTable.name, key, 'the two envelopes do not contradict each other');
        }
        if (key !== equivocationTable.key(first.node, first.batch)) {
          report.problem(equivocationTable.name, key, `proves something of batch ${first.node}/${first.batch}`);
        }
        report.count('equivocations');
      } catch (error) {
        report.problem(equivocationTable.name, key, reasonOf(error));
      }
    }
  },
};

/**
 * Rivals of decided batches: each names another envelope, after the decision, and an account of its node paid for it.
 */
export const rivalCheck: TableCheck = {
  tables: [rivalNameTable],
  async run(check) {
    const { report, store } = check;
    const state = await decisionStateTable.get(store, DECISION_STATE_ROW).catch(() => undefined);
    for await (const { key, value } of readRows(check, rivalNameTable)) {
      if (value === undefined) continue;
      report.count('rivals');
      try {
        const named = readNamed(value.message);
        const decision = await decisionOf(check, named);
        for (const fault of faultsOf(key, value, named, decision, state)) {
          report.problem(rivalNameTable.name, key, fault);
        }
      } catch (error) {
        report.problem(rivalNameTable.name, key, reasonOf(error));
      }
    }
  },
};

function readNamed(text: string): BatchMessage {
  const named = parseLedgerMessage(text);
  if (named.type !== 'batch') throw new RangeError('names no batch');
  return named;
}

async function decisionOf({ store }: Check, { node, batch }: BatchMessage): Promise<Decision> {
  const index = await decidedBatchTable.get(store, node, batch);
  const entry = index === undefined ? undefined : await logEntryTable.get(store, index);
  if (entry === undefined) throw new RangeError(`is of batch ${node}/${batch}, which was not decided`);
  return decisionText.parse(entry.text);
}

function faultsOf(
  key: string,
  { payer, sequence, index }: LedgerName,
  { node, batch, envelope, federation }: BatchMessage,
  decision: Decision,
  state: DecisionState | undefined,
): readonly string[] {
  const isAfter = Number(sequence) > Number(decision.sequence) && index > decision.index;
  return [
    ...(key === rivalNameTable.key(node, batch) ? [] : [`names batch ${node}/${batch}`]),
    ...(readNamed(decision.message).envelope === envelope ? ['names the envelope that was decided'] : []),
    ...(isAfter ? [] : ['stands before the decision']),
    ...(state === undefined || state.federation === federation ? [] : ['is of another federation']),
    ...(state === undefined || state.accounts[payer] === node ? [] : [`was paid by no account of ${node}`]),
    ...(state === undefined || Number(sequence) <= state.sequence ? [] : ['was not read yet']),
  ];
}
