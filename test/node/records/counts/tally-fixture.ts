import { join } from 'node:path';
import type { Draft } from '../../../../node/intake/draft.ts';
import type { Projection } from '../../../../node/records/projection.ts';
import { Intake } from '../../../../node/intake/intake.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { readRecordTexts } from '../../../../node/records/record-reader.ts';
import { RecordCounters } from '../../../../node/records/record-counters.ts';
import type { RowPace } from '../../../../node/records/row-pace.ts';
import { Store } from '../../../../node/store/store.ts';
import { EvidenceTally } from '../../../../node/records/counts/evidence-tally.ts';
import { ALL_SOURCES, type FacetCount, tallyTable } from '../../../../node/records/counts/tally-table.ts';
import { sourceKey } from '../../../../node/records/sources/sources.ts';
import { facetText } from '../../../../protocol/frameworks/facet.ts';
import { type AttestationRecord, openRecord } from '../../../../protocol/chain/record.ts';
import { draftOf, NODE, signer, cipher } from '../../intake/intake-fixture.ts';

export interface TallyFixtureOptions {
  readonly now?: () => number;
  /** Whether the disk keeps the next write of intake. */
  readonly isKept?: () => boolean;
  readonly maxCached?: number;
  readonly pace?: RowPace;
  readonly projections?: readonly Projection[];
}

/** Intake whose records are counted, over a real store whose disk can refuse. */
export class TallyFixture implements AsyncDisposable {
  readonly store: Store;
  readonly counters: RecordCounters;
  readonly intake: Intake;

  private constructor(store: Store, counters: RecordCounters, intake: Intake) {
    this.store = store;
    this.counters = counters;
    this.intake = intake;
  }

  static async open(directory: string, options: TallyFixtureOptions = {}): Promise<TallyFixture> {
    const store = await Store.open(join(directory, 'store'));
    const tally = await EvidenceTally.open(store, NODE, {
      ...(options.maxCached === undefined ? {} : { maxCached: options.maxCached }),
      ...(options.pace === undefined ? {} : { pace: options.pace }),
    });
    const counters = new RecordCounters(store, [tally]);
    const write = store.write.bind(store);
    store.write = async (operations) => {
      if (options.isKept?.() === false) throw new Error('the disk refused');
      await write(operations);
    };
    const intake = await Intake.open({
      node: NODE,
      store,
      signer: () => signer,
      cipher,
      now: options.now ?? Date.now,
      projections: options.projections ?? [],
      counters,
      onCommitted: () => {},
    });
    intake.start();
    return new TallyFixture(store, counters, intake);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.intake[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

export function countedDraft(
  sourceId: string,
  claims: Partial<Draft['claims']> = {},
  more: Partial<Draft> = {},
): Draft {
  return draftOf(sourceId, {}, { claims: { channel: 'tiered', ...claims }, ...more });
}

export async function recordsOf(store: Store): Promise<AttestationRecord[]> {
  const texts = await Array.fromAsync(readRecordTexts(store, NODE, 1, 1_000_000));
  return texts.map((each) => openRecord(nativeSuite, each));
}

/** Rows that count every record. */
export async function rowsOf({
  store,
  counters,
}: Pick<TallyFixture, 'counters' | 'store'>): Promise<Map<string, FacetCount>> {
  await counters.flush();
  const rows = new Map<string, FacetCount>();
  for await (const [parts, count] of tallyTable.under(store, [])) rows.set(parts.join('/'), count);
  return rows;
}

/** What the rows must be where facets are few: counted one record after the other, by other code than the node's. */
export function naiveRows(records: readonly AttestationRecord[]): Map<string, FacetCount> {
  const rows = new Map<string, FacetCount>();
  for (const record of records) {
    for (const source of [sourceKey(record.sourceId), ALL_SOURCES]) {
      const key = [record.account, source, record.submittedAt.slice(0, 10), facetText(record)].join('/');
      const { count, first } = rows.get(key) ?? { count: 0, first: [] };
      rows.set(key, { count: count + 1, first: [...first, record.id].slice(0, 3), last: record.id });
    }
  }
  return rows;
}

export function sorted(rows: ReadonlyMap<string, FacetCount>): readonly (readonly [string, FacetCount])[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}
