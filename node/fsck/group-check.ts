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
import { type PartReport, Report } from './report.ts';
import { reasonOf } from './rows.ts';
import { hasRowAt, itemsOf, reportStray, type RunItem, type StoredRun } from './stored-run.ts';

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

export interface CheckedRecord {
  readonly record: AttestationRecord;
  /** Its place in the group, from 0. */
  readonly at: number;
  /** Key of the row that holds its texts. */
  readonly key: string;
}

export interface CheckedGroup {
  /** 32 bytes a record, in order of seq; null where the records are not all here. */
  readonly leaves: Uint8Array | null;
  /** The records that read. */
  readonly records: readonly CheckedRecord[];
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

  #checkGroup(report: Report, stored: StoredGroup, isProven: boolean): CheckedGroup {
    const { group, payloads } = stored;
    const split = (bytes: Uint8Array): readonly WholeTexts[] => splitTexts(bodyTable.decode(bytes));
    const table = { name: bodyTable.name, keyOf: (seq: number) => bodyTable.key(group.node, seq), split };
    const texts = itemsOf(report, table, stored.bodies);
    report.count('groups');
    const derived = texts === undefined ? NOTHING_DERIVED : deriveGroup(report, stored, texts, isProven);
    report.count('records', derived.records.length);
    if (payloads !== null) this.#checkPayloads(report, group, payloads, derived.records, isProven);
    return derived;
  }

  /**
   * A ciphertext for each record, and where its key is still there, one that opens to what the record committed to. A
   * payload without key was erased; a group without any payload or key was taken back from peers, who never had them.
   */
  #checkPayloads(
    report: Report,
    { node, size }: Group,
    payloads: StoredPayloads,
    records: readonly CheckedRecord[],
    isProven: boolean,
  ): void {
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
      return;
    }
    const ciphertexts = itemsOf(report, ciphertextTable, payloads.ciphertexts);
    const seeds = itemsOf(report, seedTable, payloads.seeds);
    for (const { record, at } of records) {
      const seed = seeds?.[at]?.item;
      if (seed === null) report.count('payloadsErased');
      const ciphertext = ciphertexts?.[at];
      if (ciphertext === undefined || !(seed instanceof Uint8Array) || this.#cipher === null) continue;
      if (isProven) report.count('payloadsOpened');
      else openPayload(report, this.#cipher, record, ciphertext, seed);
    }
  }
}

const NOTHING_DERIVED: CheckedGroup = { leaves: null, records: [] };

/** Each record canonical and in its place, together the root that was signed. */
function deriveGroup(
  report: Report,
  { key, group }: StoredGroup,
  stored: readonly RunItem<WholeTexts>[],
  isProven: boolean,
): CheckedGroup {
  const leaves: Uint8Array[] = [];
  const records: CheckedRecord[] = [];
  stored.forEach(({ item: texts, key: bodyKey }, at) => {
    leaves.push(recordLeaf(nativeSuite, texts.head));
    const seq = group.first + at;
    const record = readRecord(report, bodyKey, texts, seq, isProven);
    if (record === undefined) return;
    if (record.node === group.node && record.seq === seq) records.push({ record, at, key: bodyKey });
    else report.problem(bodyTable.name, bodyKey, `record ${seq} is of another node or place`);
  });
  if (!equalBytes(merkleRoot(nativeSuite, leaves), hashBytes(group.root))) {
    report.problem(groupTable.name, key, 'its root is not that of its records');
  }
  return { leaves: packed(leaves), records };
}

function readRecord(
  report: Report,
  key: string,
  texts: WholeTexts,
  seq: number,
  isProven: boolean,
): AttestationRecord | undefined {
  try {
    return isProven ? rereadRecord(texts) : openRecord(nativeSuite, texts);
  } catch (error) {
    report.problem(bodyTable.name, key, `record ${seq} does not read: ${reasonOf(error)}`);
    return undefined;
  }
}

function openPayload(
  report: Report,
  cipher: PayloadCipher,
  record: AttestationRecord,
  { key, item: ciphertext }: RunItem<Uint8Array>,
  seed: Uint8Array,
): void {
  try {
    const { salt, text } = cipher.open(record.id, { seed, ciphertext });
    if (payloadTextMatches(nativeSuite, record, salt, text)) report.count('payloadsOpened');
    else report.problem(payloadTable.name, key, `the payload of record ${record.seq} is not what it committed to`);
  } catch (error) {
    report.problem(payloadTable.name, key, reasonOf(error));
  }
}

/** In one buffer of their own: a view of a shared one would take all of it along to another thread. */
function packed(leaves: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(leaves.length * LEAF_BYTES);
  leaves.forEach((leaf, i) => all.set(leaf, i * LEAF_BYTES));
  return all;
}
