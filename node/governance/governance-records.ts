import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { recordId, type RecordId } from '../../protocol/ids.ts';
import type { KeyedLock } from '../concurrency/keyed-lock.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { linkTable } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import { governanceTable, INDEXED_KINDS, type IndexedKind, systemKey, systemTable } from './governance-tables.ts';

/** Records that one page looks at: a filter may pass over many before it finds one. */
const MAX_LOOKED_AT = 500;
/** Records of each kind that a report looks at, those of other sources and systems included. */
const MAX_LISTED_LOOKED_AT = 5_000;

/** A record of governance, and the newest one of its kind that stands in its place. */
export interface ListedRecord {
  readonly record: AttestationRecord;
  readonly supersededBy: RecordId | undefined;
}

export interface GovernanceFilter {
  readonly account: string;
  readonly kind: IndexedKind;
  /** Whether a record is asked for, and may be seen. */
  readonly accepts: (record: AttestationRecord) => boolean;
  /** Whether those are left out that another one supersedes. */
  readonly currentOnly: boolean;
  /** Seq of the last record of the page before. */
  readonly before: number | undefined;
  readonly limit: number;
}

export interface GovernancePage {
  readonly records: readonly ListedRecord[];
  /** Seq that the next page starts before; undefined at the end of the list. */
  readonly next: number | undefined;
}

/** Records of governance that a report looks at. */
export interface ListedGovernance {
  readonly records: readonly AttestationRecord[];
  /** Those that were not accepted, and replace others that may be. */
  readonly besides: readonly AttestationRecord[];
  /** Kinds of which there are more. */
  readonly truncated: ReadonlySet<IndexedKind>;
}

/** The own records of governance of accounts, kind by kind. */
export class GovernanceRecords {
  readonly #store: Store;
  readonly #keyedLock: KeyedLock;

  constructor(store: Store, keyedLock: KeyedLock) {
    this.#store = store;
    this.#keyedLock = keyedLock;
  }

  /** The newest first. A page may be short, or empty, and still lead to another one. */
  async page({ account, kind, accepts, currentOnly, before, limit }: GovernanceFilter): Promise<GovernancePage> {
    const records: ListedRecord[] = [];
    let looked = 0;
    let last = before;
    const range = { reverse: true, ...(before === undefined ? {} : { before }) };
    for await (const [parts, id] of governanceTable.under(this.#store, [account, kind], range)) {
      if (looked++ >= MAX_LOOKED_AT || records.length >= limit) return { records, next: last };
      last = Number(parts[0]);
      const record = (await readRecord(this.#store, recordId(id)))?.record;
      if (record === undefined || !accepts(record)) continue;
      const supersededBy = await this.supersededBy(record);
      if (!currentOnly || supersededBy === undefined) records.push({ record, supersededBy });
    }
    return { records, next: undefined };
  }

  /** The newest entry of a system in the register. */
  async system(account: string, systemRef: string): Promise<AttestationRecord | undefined> {
    const row = await systemTable.last(this.#store, [account, systemKey(systemRef)]);
    return row && (await readRecord(this.#store, recordId(row[1])))?.record;
  }

  /** The newest records of governance of an account, kind by kind: those that are accepted, at most so many of each. */
  async listed(
    account: string,
    limit: number,
    accepts: (record: AttestationRecord) => boolean,
  ): Promise<ListedGovernance> {
    const slices = new TimeSlices();
    const records: AttestationRecord[] = [];
    const besides: AttestationRecord[] = [];
    const truncated = new Set<IndexedKind>();
    for (const kind of INDEXED_KINDS) {
      let looked = 0;
      let accepted = 0;
      for await (const [, id] of governanceTable.under(this.#store, [account, kind], { reverse: true })) {
        if (accepted === limit || looked++ === MAX_LISTED_LOOKED_AT) {
          truncated.add(kind);
          break;
        }
        const record = (await readRecord(this.#store, recordId(id)))?.record;
        if (record !== undefined && accepts(record)) {
          records.push(record);
          accepted++;
        } else if (record?.links.supersedes !== undefined) besides.push(record);
        if (slices.isOver) await slices.rest();
      }
    }
    return { records, besides, truncated };
  }

  /** The newest own record of the same kind that supersedes this one. */
  async supersededBy({ id, kind, node }: AttestationRecord): Promise<RecordId | undefined> {
    const rows = linkTable.under(this.#store, [id, 'supersedes', kind, node], { reverse: true, limit: 1 });
    for await (const [, later] of rows) return recordId(later);
    return undefined;
  }

  /** Runs the work while no other entry of this system is made; it gets the newest one that there is. */
  revising<Result>(
    account: string,
    systemRef: string,
    work: (newest: AttestationRecord | undefined) => Promise<Result>,
  ): Promise<Result> {
    return this.#keyedLock.exclusive(`system/${account}/${systemKey(systemRef)}`, async () => {
      return work(await this.system(account, systemRef));
    });
  }
}
