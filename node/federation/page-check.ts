import type { RecordId } from '../../protocol/ids.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { merkleRoot } from '../../protocol/merkle/tree.ts';
import { type AttestationRecord, openRecord, recordLeaf, type WholeTexts } from '../../protocol/chain/record.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { isAccountRecord } from '../records/account-record-table.ts';
import { BODY_ROW_RECORDS, groupOperations } from '../records/record-tables.ts';
import { openedLengthOf } from '../store/compressed-text.ts';
import type { Operation } from '../store/operation.ts';
import { decodeItem, type PageItem, type RecordsItem } from './page-forms.ts';
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

/** How many times its size a row that comes compressed opens to at least; one that does not is compressed anew. */
const LEAST_COMPRESSION = 2;

/** A group whose records arrive, frame by frame. */
export class ArrivingGroup {
  readonly group: Group;
  readonly signed: SignedStatement;
  readonly records: ReadRecord[] = [];
  /** Rows that are stored as they came, by their first seq: they open to the records that were read. */
  readonly #bodies = new Map<number, Uint8Array>();

  constructor(group: Group, signed: SignedStatement) {
    this.group = group;
    this.signed = signed;
  }

  get isWhole(): boolean {
    return this.records.length >= this.group.size;
  }

  /** Reads the next records. Throws `PeerStatementError` `malformed`. */
  take({ records, row }: RecordsItem): void {
    const { group } = this;
    const [at, end] = [this.records.length, this.records.length + records.length];
    if (end > group.size) throw new PeerStatementError('malformed', 'more records than their group has');
    records.forEach((texts, i) => this.records.push(readRecord(group, group.first + at + i, texts)));
    const isAsStored = at % BODY_ROW_RECORDS === 0 && end === Math.min(at + BODY_ROW_RECORDS, group.size);
    if (row !== undefined && isAsStored && isSmall(row)) this.#bodies.set(group.first + at, row);
  }

  /** The group, once it is whole. Throws `PeerStatementError` `forged` where its records have another root than was signed. */
  check(): CheckedGroup {
    const { group, signed, records } = this;
    const bodies = this.#bodies;
    const leaves = records.map(({ leaf }) => leaf);
    if (writeSha256(merkleRoot(nativeSuite, leaves)) !== group.root) {
      throw new PeerStatementError('forged', `the records of group ${group.first} are not those signed`);
    }
    return {
      ids: records.map(({ record }) => record.id),
      leaves,
      rows: () => groupOperations({ group, signed, records, bodies }),
      accountRecords: records.flatMap(({ record }) => (isAccountRecord(record) ? [record] : [])),
    };
  }
}

function isSmall(row: Uint8Array): boolean {
  return row.length * LEAST_COMPRESSION <= (openedLengthOf(row) ?? 0);
}

/**
 * The groups that a page of a chain begins with, up to the first of which anything is amiss: what that is, is for
 * anyone who takes the page frame by frame. Follows from the frames alone, and is the same in every thread. One group
 * is in memory at a time: what a collector has to copy costs more than the check.
 */
export function* checkPage(frames: readonly Uint8Array[]): Generator<PageGroup> {
  let open: ArrivingGroup | undefined;
  let taken = 0;
  for (const frame of frames) {
    let whole: CheckedGroup;
    try {
      open = takeItem(open, decodeItem(frame));
      if (open === undefined) continue;
      taken++;
      if (!open.isWhole) continue;
      whole = open.check();
    } catch {
      return;
    }
    yield { ...whole, frames: taken };
    open = undefined;
    taken = 0;
  }
}

function takeItem(open: ArrivingGroup | undefined, item: PageItem): ArrivingGroup | undefined {
  if (item.kind === 'records' && open !== undefined) {
    open.take(item);
    return open;
  }
  if (open !== undefined) throw new PeerStatementError('malformed', `a ${item.kind} inside a group`);
  if (item.kind === 'envelope') return undefined;
  if (item.kind !== 'group') throw new PeerStatementError('malformed', `a ${item.kind} outside a group`);
  return new ArrivingGroup(groupStatement.parse(item.signed.statement), item.signed);
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
