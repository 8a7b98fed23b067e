import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import { type BatchMessage, parseLedgerMessage } from '../../protocol/log/message.ts';
import { DECISION_STATE_ROW, decidedBatchTable, decisionStateTable, logEntryTable } from '../log/log-tables.ts';
import { type LedgerName, rivalNameTable } from '../log/rival-name.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows, reasonOf } from './rows.ts';

/** Rivals of decided batches: each names another envelope, after the decision, and an account of its node paid for it. */
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
