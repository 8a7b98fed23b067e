import { type ChainState, stateAfter } from '../../protocol/chain/chain-state.ts';
import type { SourceHead } from '../../protocol/chain/sources.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import { type BatchMessage, parseLedgerMessage } from '../../protocol/log/message.ts';
import { type Timestamp, timestampOfConsensus } from '../../protocol/time.ts';
import {
  chainSourceTable,
  chainStateTable,
  ownVouchedTable,
  sealingKeyTable,
  sourcePart,
} from '../records/chain-tables.ts';
import { decidedBatchTable, type LogEntry, logEntryTable } from '../log/log-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { heldBatch } from './held-batch.ts';
import type { CheckedRecord } from './group-check.ts';
import { decodeRow, readRows } from './rows.ts';

export const DERIVED_TABLES = [chainStateTable, chainSourceTable];

/** Sources of one chain that are compared; of the others it is said that they were not. */
const MAX_SOURCES = 200_000;

/** A record that was re-derived from its stored texts. */
export interface DerivedRecord {
  readonly record: CheckedRecord;
  readonly leaf: Uint8Array;
}

/**
 * Where a chain was derived to, beside its records: the state after a batch, and the last record of each source then.
 */
export class DerivedWalk {
  readonly #check: Check;
  readonly #node: NodeId;
  readonly #state: ChainState | undefined;
  readonly #heads = new Map<string, SourceHead>();
  #isPartial = false;

  private constructor(check: Check, node: NodeId, state: ChainState | undefined) {
    this.#check = check;
    this.#node = node;
    this.#state = state;
  }

  static async open(check: Check, node: NodeId): Promise<DerivedWalk> {
    const key = chainStateTable.key(node);
    const bytes = await check.store.get(key);
    const state = bytes && decodeRow(check.report, chainStateTable, key, bytes);
    return new DerivedWalk(check, node, state);
  }

  take(records: readonly DerivedRecord[]): void {
    const { next } = this.#state ?? { next: 0 };
    const last = new Map<string, DerivedRecord>();
    for (const derived of records) {
      if (derived.record.seq >= next) break;
      last.set(derived.record.shared.source, derived);
    }
    for (const { record, leaf } of last.values()) {
      const part = sourcePart(record.shared);
      if (this.#heads.size >= MAX_SOURCES && !this.#heads.has(part)) this.#isPartial = true;
      else this.#heads.set(part, { sourceSeq: record.sourceSeq, leaf: writeSha256(leaf) });
    }
  }

  /** After the last record of the chain. */
  async finish(): Promise<void> {
    await this.#finishState();
    const { report } = this.#check;
    for await (const { key, parts, value } of readRows(this.#check, chainSourceTable, this.#node)) {
      const [part = ''] = parts;
      const head = this.#heads.get(part);
      this.#heads.delete(part);
      if (value === undefined || (head === undefined && this.#isPartial)) continue;
      const isHead = parts.length === 1 && head?.leaf === value.leaf && head.sourceSeq === value.sourceSeq;
      if (!isHead) report.problem(chainSourceTable.name, key, 'is not the last record of its source');
    }
    for (const part of this.#heads.keys()) {
      report.problem(chainSourceTable.name, chainSourceTable.key(this.#node, part), 'is missing');
    }
    if (this.#isPartial) report.notChecked.push(`sources of ${this.#node} past ${MAX_SOURCES}`);
  }

  async #finishState(): Promise<void> {
    const state = this.#state;
    if (state === undefined) return;
    const { store, report, own } = this.#check;
    const key = chainStateTable.key(this.#node);
    const held = await heldBatch(store, this.#node, state.batch);
    if (held === undefined) return report.problem(chainStateTable.name, key, `batch ${state.batch} is not here`);
    const decided = this.#node === own ? null : await this.#ledgerTime(state.batch);
    if (decided === undefined) return report.problem(chainStateTable.name, key, `batch ${state.batch} is not decided`);
    const expected = stateAfter(held.envelope, held.hash, decided);
    const isExpected = JSON.stringify(Object.entries(expected).sort()) === JSON.stringify(Object.entries(state).sort());
    if (!isExpected) report.problem(chainStateTable.name, key, `is not the state after batch ${state.batch}`);
  }

  async #ledgerTime(batch: number): Promise<Timestamp | undefined> {
    const { store } = this.#check;
    const index = await decidedBatchTable.get(store, this.#node, batch).catch(() => undefined);
    const entry = index === undefined ? undefined : await logEntryTable.get(store, index).catch(() => undefined);
    if (entry === undefined) return undefined;
    try {
      return timestampOfConsensus(decisionText.parse(entry.text).consensusTimestamp);
    } catch {
      return undefined;
    }
  }
}

/** How far the log decided the own batches that are held: none further, and the one there is the one that is held. */
export const ownVouchedCheck: TableCheck = {
  tables: [ownVouchedTable],
  async run({ own, ...check }) {
    const { report, store } = check;
    for await (const { key, value } of readRows(check, ownVouchedTable)) {
      if (value === undefined) continue;
      if (own === null || key !== ownVouchedTable.key(own)) {
        report.problem(ownVouchedTable.name, key, 'is not of this node');
        continue;
      }
      const held = await heldBatch(store, own, value);
      const index = await decidedBatchTable.get(store, own, value).catch(() => undefined);
      const entry = index === undefined ? undefined : await logEntryTable.get(store, index).catch(() => undefined);
      if (entry === undefined || held === undefined || envelopeOf(entry) !== held.hash) {
        report.problem(ownVouchedTable.name, key, `batch ${value} is not held as it was decided`);
      }
    }
  },
};

/** Keys by which derived batches are signed: each is the one that the decision of that batch names. */
export const sealingKeyCheck: TableCheck = {
  tables: [sealingKeyTable],
  async run(check) {
    const { report, store } = check;
    for await (const {
      key,
      parts: [node = '', keyId = ''],
      value,
    } of readRows(check, sealingKeyTable)) {
      if (value === undefined) continue;
      const index = await decidedBatchTable.get(store, node, value).catch(() => undefined);
      const entry = index === undefined ? undefined : await logEntryTable.get(store, index).catch(() => undefined);
      if (entry === undefined || batchNamedBy(entry)?.keyId !== keyId) {
        report.problem(sealingKeyTable.name, key, `batch ${value} was not decided by this key`);
      }
    }
  },
};

function envelopeOf(entry: LogEntry): string | null {
  return batchNamedBy(entry)?.envelope ?? null;
}

function batchNamedBy(entry: LogEntry): BatchMessage | null {
  try {
    const named = parseLedgerMessage(decisionText.parse(entry.text).message);
    return named.type === 'batch' ? named : null;
  } catch {
    return null;
  }
}
