import { equalBytes } from '../../protocol/bytes.ts';
import { hashBytes } from '../../protocol/hash.ts';
import { merkleRoot } from '../../protocol/merkle/tree.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { type AttestationRecord, openRecord, recordLeaf, type WholeTexts } from '../../protocol/chain/record.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { bodyTable, groupTable } from '../records/record-tables.ts';
import type { Check } from './check.ts';
import type { RunItem } from './row-runs.ts';
import { reasonOf } from './rows.ts';

export interface DerivedRecord {
  readonly record: AttestationRecord;
  readonly leaf: Uint8Array;
  /** Key of the row that holds its texts. */
  readonly key: string;
}

export interface DerivedGroup {
  readonly leaves: readonly Uint8Array[];
  /** The records that read, each in its place. */
  readonly records: readonly DerivedRecord[];
}

/** Re-derives a group from its stored texts: each canonical and in its place, together the root that was signed. */
export function deriveGroup(
  check: Check,
  key: string,
  group: Group,
  stored: readonly RunItem<WholeTexts>[],
): DerivedGroup {
  const leaves: Uint8Array[] = [];
  const records: DerivedRecord[] = [];
  stored.forEach(({ item: texts, key: bodyKey }, i) => {
    const leaf = recordLeaf(nativeSuite, texts.head);
    leaves.push(leaf);
    const record = readRecord(check, bodyKey, texts, group.first + i);
    if (record === undefined) return;
    if (record.node !== group.node || record.seq !== group.first + i) {
      check.report.problem(bodyTable.name, bodyKey, `record ${group.first + i} is of another node or place`);
      return;
    }
    records.push({ record, leaf, key: bodyKey });
  });
  if (!equalBytes(merkleRoot(nativeSuite, leaves), hashBytes(group.root))) {
    check.report.problem(groupTable.name, key, 'its root is not that of its records');
  }
  return { leaves, records };
}

function readRecord({ report }: Check, key: string, texts: WholeTexts, seq: number): AttestationRecord | undefined {
  try {
    return openRecord(nativeSuite, texts);
  } catch (error) {
    report.problem(bodyTable.name, key, `record ${seq} does not read: ${reasonOf(error)}`);
    return undefined;
  }
}
