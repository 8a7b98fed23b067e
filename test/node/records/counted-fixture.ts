import { join } from 'node:path';
import type { Check } from '../../../node/fsck/check.ts';
import { Report } from '../../../node/fsck/report.ts';
import { FactsMaker } from '../../../node/fsck/record-facts.ts';
import { TallyWalk } from '../../../node/fsck/tally-walk.ts';
import { UsageWalk } from '../../../node/fsck/usage-walk.ts';
import { Intake } from '../../../node/intake/intake.ts';
import { DailyUsage } from '../../../node/accounts/limits/daily-usage.ts';
import { usageTable } from '../../../node/accounts/limits/usage-table.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { RowPace } from '../../../node/records/row-pace.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { Store } from '../../../node/store/store.ts';
import { EvidenceTally } from '../../../node/records/counts/evidence-tally.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Fate } from '../intake/intake-fixture.ts';
import { NODE, signer, cipher } from '../intake/intake-fixture.ts';
import { countedDraft, naiveRows, recordsOf, rowsOf, sorted } from './counts/tally-fixture.ts';

export interface CountedFixtureOptions {
  readonly now?: () => number;
  /** Clock of the rows' pace. */
  readonly monotonic?: () => number;
  /** What the disk does with each write, once the room is open. */
  readonly fate?: (operations: readonly Operation[]) => Fate;
}

/** Intake with the counters that put their rows off, over a real store whose disk can refuse. */
export class CountedFixture implements AsyncDisposable {
  readonly store: Store;
  readonly counters: RecordCounters;
  readonly intake: Intake;
  readonly usage: DailyUsage;
  #isGone = false;

  private constructor(store: Store, counters: RecordCounters, intake: Intake, usage: DailyUsage) {
    this.store = store;
    this.counters = counters;
    this.intake = intake;
    this.usage = usage;
  }

  static async open(directory: string, options: CountedFixtureOptions = {}): Promise<CountedFixture> {
    const { now = Date.now, monotonic = () => 0, fate = () => 'kept' } = options;
    const store = await Store.open(join(directory, 'store'));
    const usage = await DailyUsage.open({ store, node: NODE, now, pace: new RowPace(monotonic) });
    const tally = await EvidenceTally.open(store, NODE, { pace: new RowPace(monotonic) });
    const counters = new RecordCounters(store, [usage, tally]);
    const write = store.write.bind(store);
    store.write = async (operations) => {
      const decided = fixture.#isGone ? 'refused' : fate(operations);
      if (decided !== 'refused') await write(operations);
      if (decided !== 'kept') throw new Error('the disk refused');
    };
    const intake = await Intake.open({
      node: NODE,
      store,
      signer: () => signer,
      cipher,
      now,
      projections: [],
      counters,
      onCommitted: () => {},
    });
    const fixture = new CountedFixture(store, counters, intake, usage);
    intake.start();
    return fixture;
  }

  /** Ends with what is on the disk, as a process that is killed. */
  async crash(): Promise<void> {
    this.#isGone = true;
    await this[Symbol.asyncDispose]();
  }

  /** Makes one group: records of an account's sources. Tells whether it was recorded. */
  async record(account: string, sources: readonly string[]): Promise<boolean> {
    const drafts = sources.map((source, i) => countedDraft(source, { eventType: `EVENT_${i % 3}` }, { account }));
    return this.intake.submitAll(drafts).then(
      () => true,
      () => false,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.intake[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

/** What fsck says of the counts of a store that nobody has open. */
export async function countFindings(directory: string): Promise<readonly string[]> {
  await using store = await Store.open(join(directory, 'store'));
  const report = new Report();
  const check: Check = {
    store,
    report,
    signal: undefined,
    keys: null,
    own: NODE,
    cipher: null,
    agentKeys: null,
    held: null,
  };
  const walks = [new UsageWalk(check), new TallyWalk(check)];
  const facts = new FactsMaker();
  const records = (await recordsOf(store)).map((record) => facts.factsOf(record));
  for (let at = 0; at < records.length; at += 50) {
    for (const walk of walks) await walk.take(records.slice(at, at + 50));
  }
  for (const walk of walks) await walk.finish();
  return report.findings.map(({ severity, key, detail }) => `${severity}: ${key ?? ''} ${detail}`);
}

/** Rows of both counters as they are, once they count every record, beside those of a plain count. */
export async function rowsAndPlain(fixture: CountedFixture): Promise<readonly [rows: unknown, plain: unknown]> {
  const tallies = sorted(await rowsOf(fixture));
  const usage: [string, number][] = [];
  for await (const [parts, count] of usageTable.under(fixture.store, [])) usage.push([parts.join('/'), count]);
  const records = await recordsOf(fixture.store);
  return [
    { usage, tallies },
    { usage: [...plainUsage(records)].sort(([a], [b]) => (a < b ? -1 : 1)), tallies: sorted(naiveRows(records)) },
  ];
}

/** Records by account and UTC day, counted one by one. */
export function plainUsage(records: readonly AttestationRecord[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { account, submittedAt } of records) {
    const key = `${account}/${submittedAt.slice(0, 10)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
