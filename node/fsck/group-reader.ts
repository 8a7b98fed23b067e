import type { NodeId } from '../../protocol/ids.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { checkStatementApart } from '../log/members/statement-check.ts';
import { payloadKeyTable } from '../records/payload/payload-keys.ts';
import { payloadTable } from '../records/payload/payload-tables.ts';
import { bodyTable, groupTable } from '../records/record-tables.ts';
import { type Check, checkSigned } from './check.ts';
import type { GroupRange, StoredGroup } from './group-check.ts';
import { type PartReport, Report } from './report.ts';
import { RowCursor } from './row-cursor.ts';
import { RunReader, type StoredRun } from './stored-run.ts';

/** A range is full after the group with which it has so many records, or so many bytes of rows. */
const RANGE_RECORDS = 512;
const RANGE_BYTES = 2 << 20;

/** A range as it was read, and what was found on the way. */
export interface ReadRange extends GroupRange {
  /** Its first record, and the one after its last. */
  readonly first: number;
  readonly next: number;
  readonly report: PartReport;
}

/** Whether an interrupted check found nothing from one record of a chain up to before another. */
export type IsProven = (first: number, next: number) => boolean;

/**
 * Reads a node's groups in order of seq, with the rows of their records as they lie in the store. Groups are signed,
 * and none is missing or overlaps the one before. Memory: one range.
 */
export class GroupReader {
  readonly #check: Check;
  readonly #node: NodeId;
  readonly #isProven: IsProven;
  readonly #groups: RowCursor<SignedStatement>;
  readonly #bodies: RunReader;
  /** Null for a peer's chain. */
  readonly #payloads: { readonly ciphertexts: RunReader; readonly seeds: RunReader } | null;
  #next = 1;

  constructor(check: Check, node: NodeId, isProven: IsProven) {
    // What is read ahead is told of with its range.
    this.#check = { ...check, report: new Report() };
    this.#node = node;
    this.#isProven = isProven;
    this.#groups = new RowCursor(this.#check, groupTable, node);
    this.#bodies = new RunReader(this.#check, bodyTable, node);
    const ciphertexts = new RunReader(this.#check, payloadTable);
    const seeds = new RunReader(this.#check, payloadKeyTable, node);
    this.#payloads = node === check.own ? { ciphertexts, seeds } : null;
  }

  async *ranges(): AsyncGenerator<ReadRange> {
    const { report } = this.#check;
    let groups: StoredGroup[] = [];
    let [records, bytes] = [0, 0];
    for (let row = await this.#groups.next(); row !== undefined; row = await this.#groups.next()) {
      const group = row.value && (await this.#open(row.key, row.value));
      if (group === undefined) continue;
      this.#next = group.first + group.size;
      const stored = await this.#read(row.key, group);
      groups.push(stored);
      records += group.size;
      bytes += bytesOf(stored.bodies) + bytesOf(stored.payloads?.ciphertexts);
      if (records < RANGE_RECORDS && bytes < RANGE_BYTES) continue;
      yield this.#range(groups);
      groups = [];
      [records, bytes] = [0, 0];
    }
    await this.#bodies.finish();
    await this.#payloads?.ciphertexts.finish();
    await this.#payloads?.seeds.finish();
    if (groups.length > 0 || report.found('problem') > 0) yield this.#range(groups);
  }

  #range(groups: readonly StoredGroup[]): ReadRange {
    const [first, next] = [groups[0]?.group.first ?? this.#next, this.#next];
    return { groups, first, next, isProven: this.#isProven(first, next), report: this.#check.report.part() };
  }

  /** The group of a row, if it is one and does not overlap the group before. */
  async #open(key: string, signed: SignedStatement): Promise<Group | undefined> {
    const { report, keys } = this.#check;
    const signatoryOf = (value: Group): Group => value;
    if (keys !== null) await checkStatementApart(keys, groupStatement, signed, signatoryOf);
    const group = checkSigned(this.#check, groupTable, key, groupStatement, signed, signatoryOf);
    if (group === undefined) return undefined;
    if (group.node !== this.#node || key !== groupTable.key(this.#node, group.first)) {
      report.problem(groupTable.name, key, `holds the group of record ${group.node}/${group.first}`);
      return undefined;
    }
    if (group.first > this.#next) {
      report.problem(groupTable.name, key, `the group of record ${this.#next} should come before`);
    } else if (group.first < this.#next) {
      report.problem(groupTable.name, key, 'overlaps the group before');
      return undefined;
    }
    return group;
  }

  async #read(key: string, group: Group): Promise<StoredGroup> {
    const { first, size } = group;
    const bodies = await this.#bodies.take(first, size);
    if (this.#payloads === null) return { key, group, bodies, payloads: null };
    const { ciphertexts, seeds } = this.#payloads;
    return {
      key,
      group,
      bodies,
      payloads: { ciphertexts: await ciphertexts.take(first, size), seeds: await seeds.take(first, size) },
    };
  }
}

function bytesOf(run: StoredRun | undefined): number {
  return run?.rows.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0;
}
