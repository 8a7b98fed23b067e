import type { RecordId } from '../../protocol/ids.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { merkleRoot } from '../../protocol/merkle/tree.ts';
import { type AttestationRecord, openRecord, recordLeaf, type WholeTexts } from '../../protocol/chain/record.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { isAccountRecord } from '../records/account-record-table.ts';
import { groupOperations } from '../records/record-tables.ts';
import type { Operation } from '../store/operation.ts';
import { decodeItem, type PageItem } from './page-forms.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';

/** A record with the hash of its leaf and its exact texts. */
export interface ReadRecord {
  readonly record: AttestationRecord;
  readonly leaf: Uint8Array;
  readonly texts: WholeTexts;
}

/**
 * A group whose records are those that its statement names. Whose statement it is, and where it belongs, is not looked
 * at.
 */
export interface CheckedGroup {
  readonly ids: readonly RecordId[];
  readonly leaves: readonly Uint8Array[];
  /** All rows of the group. */
  readonly rows: () => readonly Operation[];
  /** Those of the records that tell of accounts. */
  readonly accountRecords: readonly AttestationRecord[];
}

/** The same in a page. */
export interface PageGroup extends CheckedGroup {
  /** Frames that it takes, its statement's and its records'. */
  readonly frames: number;
}

/**
 * Reads the records of a frame, which are those of the group from its `at`-th on. Throws `PeerStatementError`
 * `malformed`.
 */
export function readRecords(group: Group, at: number, records: readonly WholeTexts[]): ReadRecord[] {
  if (at + records.length > group.size) throw new PeerStatementError('malformed', 'more records than their group has');
  return records.map((texts, i) => readRecord(group, group.first + at + i, texts));
}

/** A group with all its records. Throws `PeerStatementError` `forged` where they have another root than was signed. */
export function checkGroup(group: Group, signed: SignedStatement, records: readonly ReadRecord[]): CheckedGroup {
  const leaves = records.map(({ leaf }) => leaf);
  if (writeSha256(merkleRoot(nativeSuite, leaves)) !== group.root) {
    throw new PeerStatementError('forged', `the records of group ${group.first} are not those signed`);
  }
  return {
    ids: records.map(({ record }) => record.id),
    leaves,
    rows: () => groupOperations({ group, signed, records }),
    accountRecords: records.flatMap(({ record }) => (isAccountRecord(record) ? [record] : [])),
  };
}

/**
 * The groups that a page of a chain begins with, up to the first of which anything is amiss: what that is, is for
 * anyone who takes the page frame by frame. Follows from the frames alone, and is the same in every thread. One group
 * is in memory at a time: what a collector has to copy costs more than the check.
 */
export function* checkPage(frames: readonly Uint8Array[]): Generator<PageGroup> {
  let open: OpenGroup | undefined;
  for (const frame of frames) {
    let whole: CheckedGroup;
    try {
      open = takeItem(open, decodeItem(frame));
      if (open === undefined || open.records.length < open.group.size) continue;
      whole = checkGroup(open.group, open.signed, open.records);
    } catch {
      return;
    }
    yield { ...whole, frames: open.frames };
    open = undefined;
  }
}

/** A group of which more records are to come. */
interface OpenGroup {
  readonly group: Group;
  readonly signed: SignedStatement;
  readonly records: ReadRecord[];
  frames: number;
}

function takeItem(open: OpenGroup | undefined, item: PageItem): OpenGroup | undefined {
  if (item.kind === 'records' && open !== undefined) {
    open.records.push(...readRecords(open.group, open.records.length, item.records));
    open.frames++;
    return open;
  }
  if (open !== undefined) throw new PeerStatementError('malformed', `a ${item.kind} inside a group`);
  if (item.kind === 'envelope') return undefined;
  if (item.kind !== 'group') throw new PeerStatementError('malformed', `a ${item.kind} outside a group`);
  return { group: groupStatement.parse(item.signed.statement), signed: item.signed, records: [], frames: 1 };
}

function readRecord({ node }: Group, seq: number, texts: WholeTexts): ReadRecord {
  try {
    const record = openRecord(nativeSuite, texts);
    if (record.node !== node || record.seq !== seq) throw new RangeError('record: of another node or place');
    return { record, texts, leaf: recordLeaf(nativeSuite, texts.head) };
  } catch (error) {
    throw new PeerStatementError('malformed', error instanceof Error ? error.message : 'unreadable record');
  }
}
