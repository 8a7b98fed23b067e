import { join } from 'node:path';
import { steadyTime } from '../../../../node/intake/record-time.ts';
import { Intake } from '../../../../node/intake/intake.ts';
import type { Draft } from '../../../../node/intake/draft.ts';
import type { BuiltRecord } from '../../../../node/intake/groups.ts';
import { DailyUsage } from '../../../../node/accounts/limits/daily-usage.ts';
import type { LimitedAccount } from '../../../../node/accounts/limits/rate-limits.ts';
import { usageTable } from '../../../../node/accounts/limits/usage-table.ts';
import { RecordCounters } from '../../../../node/records/record-counters.ts';
import type { RowPace } from '../../../../node/records/row-pace.ts';
import { Store } from '../../../../node/store/store.ts';
import { draftOf, NODE, signer, cipher } from '../../intake/intake-fixture.ts';

export interface UsageFixtureOptions {
  readonly now?: () => number;
  /** Whether the disk takes the write; called before each that intake makes. */
  readonly isTaken?: () => boolean;
  readonly maxCachedRows?: number;
  readonly pace?: RowPace;
  /** False: intake counts nothing, as before there were counts. */
  readonly isCounted?: boolean;
}

/**
 * Intake and the counts of its records over a real store. Opened again on the same directory, it is the node after a
 * restart.
 */
export class UsageFixture implements AsyncDisposable {
  readonly store: Store;
  readonly counters: RecordCounters;
  readonly intake: Intake;
  readonly usage: DailyUsage;

  private constructor(store: Store, counters: RecordCounters, intake: Intake, usage: DailyUsage) {
    this.store = store;
    this.counters = counters;
    this.intake = intake;
    this.usage = usage;
  }

  static async open(directory: string, options: UsageFixtureOptions = {}): Promise<UsageFixture> {
    const { now = Date.now, isTaken = () => true, maxCachedRows, pace, isCounted = true } = options;
    const store = await Store.open(join(directory, 'store'));
    const usage = await DailyUsage.open({
      store,
      node: NODE,
      now,
      ...(maxCachedRows === undefined ? {} : { maxCachedRows }),
      ...(pace === undefined ? {} : { pace }),
    });
    const counters = new RecordCounters(store, isCounted ? [usage] : []);
    const write = store.write.bind(store);
    store.write = async (operations) => {
      if (!isTaken()) throw new Error('the disk refused');
      await write(operations);
    };
    const intake = await Intake.open({
      node: NODE,
      store,
      signer: () => signer,
      cipher,
      now,
      timeOf: (_first, last) => steadyTime(now(), last),
      projections: [],
      counters,
      onCommitted: () => {},
    });
    intake.start();
    return new UsageFixture(store, counters, intake, usage);
  }

  /** A call that makes one record: room first, then the record; tells how it ended. */
  async call(account: LimitedAccount, more: Partial<Draft> = {}): Promise<'recorded' | 'capped' | 'failed'> {
    const decision = await this.usage.reserve(account);
    if (decision.kind === 'refused') return 'capped';
    try {
      await this.intake.submit(draftOf('source', {}, { account: account.id, ...more }));
      return 'recorded';
    } catch {
      return 'failed';
    } finally {
      decision.reservation.release();
    }
  }

  /** Makes records of an account without asking for room. */
  async record(account: string, count: number): Promise<readonly BuiltRecord[]> {
    if (count === 0) return [];
    return this.intake.submitAll(Array.from({ length: count }, () => draftOf('source', {}, { account })));
  }

  /** All rows, once they count every record: `acme/2026-11-21` → count. */
  async rows(): Promise<Record<string, number>> {
    await this.counters.flush();
    const rows: Record<string, number> = {};
    const prefix = usageTable.key('');
    for await (const [key, bytes] of this.store.range({ gte: prefix, lt: `${prefix}~` })) {
      rows[key.slice(prefix.length)] = usageTable.decode(bytes);
    }
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.intake[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}
