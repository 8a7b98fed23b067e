import { equalBytes } from '../../protocol/bytes.ts';
import { hashBytes } from '../../protocol/hash.ts';
import { merkleRoot } from '../../protocol/merkle/tree.ts';
import { payloadTextMatches } from '../../protocol/payload/commitment.ts';
import type { Group } from '../../protocol/statement/group.ts';
import {
  type AttestationRecord,
  openRecord,
  recordLeaf,
  rereadRecord,
  type WholeTexts,
} from '../../protocol/chain/record.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { payloadKeyTable, splitKeyRow } from '../records/payload/payload-keys.ts';
import { payloadTable } from '../records/payload/payload-tables.ts';
import { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { splitTexts } from '../records/record-lines.ts';
import { bodyTable, groupTable } from '../records/record-tables.ts';
import { splitFrames } from '../store/frames.ts';
import { FactsMaker, hasFurtherRows, type RecordFacts } from './record-facts.ts';
import { type PartReport, Report } from './report.ts';
import { reasonOf } from './rows.ts';
import { allItemsOf, hasRowAt, itemsOf, reportStray, type RunItem, type StoredRun } from './stored-run.ts';

/** What the store holds of the payloads of a group's records. */
export interface StoredPayloads {
  readonly ciphertexts: StoredRun;
  readonly seeds: StoredRun;
}

/** One group as it lies in the store: plain data, so that another thread can check it. */
export interface StoredGroup {
  readonly key: string;
  readonly group: Group;
  readonly bodies: StoredRun;
  /** Null for a peer's, who gives none. */
  readonly payloads: StoredPayloads | null;
}

/** Neighbouring groups of one node that are checked together. */
export interface GroupRange {
  readonly groups: readonly StoredGroup[];
  /** An interrupted check of the same store found nothing in them: texts and payloads are not judged again. */
  readonly isProven: boolean;
}

export interface CheckedRecord extends RecordFacts {
  /** First record of the row that holds its texts. */
  readonly row: number;
}

export interface CheckedGroup {
  /** 32 bytes a record, in order of seq; null where the records are not all here. */
  readonly leaves: Uint8Array | null;
  /** The records that read, in order of seq. */
  readonly records: readonly CheckedRecord[];
  /** All of those that have rows which not every record has (`hasFurtherRows`). */
  readonly further: readonly AttestationRecord[];
}

/** What came of a range: of each group in order, and all that was found. */
export interface CheckedRange {
  readonly groups: readonly CheckedGroup[];
  readonly report: PartReport;
}

export const LEAF_BYTES = 32;

/** The work that a check of a store consists of: pure, and the same in every thread. */
export class GroupChecker {
  readonly #cipher: PayloadCipher | null;

  /** `payloadKey`: null where the home has none; then payloads are counted, and not opened. */
  constructor(payloadKey: Uint8Array | null) {
    this.#cipher = payloadKey === null ? null : new PayloadCipher(payloadKey);
  }

  /** Re-derives groups from their stored texts, and opens their payloads. */
  check({ groups, isProven }: GroupRange): CheckedRange {
    const report = new Report();
    const checked = groups.map((stored) => this.#checkGroup(report, stored, isProven));
    return { groups: checked, report: report.part() };
  }

  /** Records one by one: what is read of one is let go before the next. */
  #checkGroup(report: Report, stored: StoredGroup, isProven: boolean): CheckedGroup {
    const { key, group } = stored;
    const split = (bytes: Uint8Array): readonly WholeTexts[] => splitTexts(bodyTable.decode(bytes));
    const table = { name: bodyTable.name, keyOf: (seq: number) => bodyTable.key(group.node, seq), split };
    const payloads = stored.payloads === null ? null : heldPayloads(report, group, stored.payloads);
    report.count('groups');
    const leaves: Uint8Array[] = [];
    const records: CheckedRecord[] = [];
    const further: AttestationRecord[] = [];
    const facts = new FactsMaker();
    for (const texts of itemsOf(report, table, stored.bodies)) {
      const at = leaves.length;
      leaves.push(recordLeaf(nativeSuite, texts.item.head));
      const record = readRecord(report, group, group.first + at, texts, isProven);
      if (record === undefined) continue;
      records.push({ ...facts.factsOf(record), row: texts.row });
      if (hasFurtherRows(record, stored.payloads !== null)) further.push(record);
      if (payloads !== null) this.#checkPayload(report, record, payloads, at, isProven);
    }
    if (leaves.length < group.size) return NOTHING_DERIVED;
    report.count('records', records.length);
    if (!equalBytes(merkleRoot(nativeSuite, leaves), hashBytes(group.root))) {
      report.problem(groupTable.name, key, 'its root is not that of its records');
    }
    return { leaves: packed(leaves), records, further };
  }

  /** Where its key is still there, a payload opens to what the record committed to. One without key was erased. */
  #checkPayload(
    report: Report,
    record: AttestationRecord,
    { ciphertexts, seeds }: HeldPayloads,
    at: number,
    isProven: boolean,
  ): void {
    const seed = seeds?.[at]?.item;
    if (seed === null) report.count('payloadsErased');
    const ciphertext = ciphertexts?.[at];
    if (ciphertext === undefined || !(seed instanceof Uint8Array) || this.#cipher === null) return;
    if (isProven) report.count('payloadsOpened');
    else openPayload(report, this.#cipher, record, ciphertext, seed);
  }
}

const NOTHING_DERIVED: CheckedGroup = { leaves: null, records: [], further: [] };

/** Of a group's records in order; undefined where rows do not cover them. */
interface HeldPayloads {
  readonly ciphertexts: readonly RunItem<Uint8Array>[] | undefined;
  readonly seeds: readonly RunItem<Uint8Array | null>[] | undefined;
}

/**
 * A ciphertext and a place for a key for each record. Null of a group without any: it was taken back from peers, who
 * never had them.
 */
function heldPayloads(report: Report, { node, size }: Group, payloads: StoredPayloads): HeldPayloads | null {
  const ciphertextTable = {
    name: payloadTable.name,
    keyOf: (seq: number) => payloadTable.key(seq),
    split: splitFrames,
  };
  const keyOf = (seq: number): string => payloadKeyTable.key(node, seq);
  const seedTable = { name: payloadKeyTable.name, keyOf, split: splitKeyRow };
  if (!hasRowAt(payloads.ciphertexts, ciphertextTable) && !hasRowAt(payloads.seeds, seedTable)) {
    reportStray(report, ciphertextTable.name, payloads.ciphertexts.rows);
    reportStray(report, seedTable.name, payloads.seeds.rows);
    report.count('payloadsAbsent', size);
    return null;
  }
  return {
    ciphertexts: allItemsOf(report, ciphertextTable, payloads.ciphertexts),
    seeds: allItemsOf(report, seedTable, payloads.seeds),
  };
}

/** The record of texts that are canonical and in their place; undefined of others, which are reported. */
function readRecord(
  report: Report,
  { node }: Group,
  seq: number,
  { item: texts, row }: RunItem<WholeTexts>,
  isProven: boolean,
): AttestationRecord | undefined {
  const problem = (detail: string): void => {
    report.problem(bodyTable.name, bodyTable.key(node, row), `record ${seq} ${detail}`);
  };
  try {
    const record = isProven ? rereadRecord(texts) : openRecord(nativeSuite, texts);
    if (record.node === node && record.seq === seq) return record;
    problem('is of another node or place');
  } catch (error) {
    problem(`does not read: ${reasonOf(error)}`);
  }
  return undefined;
}

function openPayload(
  report: Report,
  cipher: PayloadCipher,
  record: AttestationRecord,
  { row, item: ciphertext }: RunItem<Uint8Array>,
  seed: Uint8Array,
): void {
  const problem = (detail: string): void => report.problem(payloadTable.name, payloadTable.key(row), detail);
  try {
    const { salt, text } = cipher.open(record.id, { seed, ciphertext });
    if (payloadTextMatches(nativeSuite, record, salt, text)) report.count('payloadsOpened');
    else problem(`the payload of record ${record.seq} is not what it committed to`);
  } catch (error) {
    problem(reasonOf(error));
  }
}

/** In one buffer of their own: a view of a shared one would take all of it along to another thread. */
function packed(leaves: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(leaves.length * LEAF_BYTES);
  leaves.forEach((leaf, i) => all.set(leaf, i * LEAF_BYTES));
  return all;
}
