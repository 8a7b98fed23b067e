import { type AuditDay, dayOf, isSameDay } from '../../protocol/audit/day.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { WalletAddress } from '../../protocol/payments/payment.ts';
import {
  beginSettlements,
  extendSettlements,
  settlementLine,
  type Settlement,
  type SettlementEnd,
  type SettlementFacts,
} from '../../protocol/payments/settlement.ts';
import { type Timestamp, timestampOf } from '../../protocol/time.ts';
import { ClosedDays } from '../accounts/audit-log/closed-days.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import {
  HEAD_ROW,
  SETTLEMENT_ACCOUNT,
  settlementClosedTable,
  settlementDayTable,
  settlementHeadTable,
  settlementTable,
  type WalletSummary,
  walletTable,
} from './settlement-tables.ts';
import { addSettlement } from './wallet-summary.ts';

export interface SettlementLedgerOptions {
  readonly node: NodeId;
  readonly store: Store;
  readonly now: () => number;
  /** Whether the clock is known to be right. */
  readonly isClockRight: () => boolean;
}

/** Where the ledger ends, for anyone who compares it with a day's attested head. */
export interface SettlementHead {
  readonly entries: number;
  readonly hash: Sha256Hash;
  /** Null before the first settlement. */
  readonly at: Timestamp | null;
}

/** What a wallet has paid here, and the ledger that says so: of one moment. */
export interface WalletStanding {
  readonly head: SettlementHead;
  /** Undefined where it never paid. */
  readonly summary: WalletSummary | undefined;
}

/** What was settled on a day of UTC. */
export interface SettledDay {
  readonly day: AuditDay;
  readonly settled: number;
  /** Of all of them together, in the token's smallest unit. */
  readonly atomicAmount: bigint;
}

interface End extends SettlementEnd {
  /** Counter of the first line of the last line's day. */
  readonly dayFirst: number;
}

interface Waiting {
  readonly facts: SettlementFacts;
  readonly besides: (settlement: Settlement) => readonly Operation[];
  resolve(settlement: Settlement): void;
  reject(error: unknown): void;
}

/** Lines that one look at the last days reads at most. */
const MAX_RECENT = 2_000;
/** Settlements of one write: building it keeps the event loop for a few milliseconds. */
const WRITE_SETTLEMENTS = 128;

/**
 * The settlement ledger: one append-only chain of the payments that reached the payee, hash by hash.
 *
 * Crash order: a line, the day's row, the head, the payer's summary and what the caller puts beside land in one atomic
 * write, so a ledger on the disk is always whole, and a payment is settled exactly when its line is there.
 * Ownership: one write at a time, in `#inOrder`, moves `#end` and `#closedDays`, and only once it is on the disk.
 */
export class SettlementLedger {
  readonly #options: SettlementLedgerOptions;
  readonly #closedDays: ClosedDays;
  #end: End;
  #waiting: Waiting[] = [];
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: SettlementLedgerOptions, end: End, closedDays: ClosedDays) {
    this.#options = options;
    this.#end = end;
    this.#closedDays = closedDays;
  }

  static async open(options: SettlementLedgerOptions): Promise<SettlementLedger> {
    const { store, node } = options;
    const head = await settlementHeadTable.get(store, HEAD_ROW);
    const closedDays = await ClosedDays.open({ ...options, table: settlementClosedTable });
    return new SettlementLedger(options, head ?? { ...beginSettlements(nativeSuite, node), dayFirst: 1 }, closedDays);
  }

  get head(): SettlementHead {
    const { seq, hash, at } = this.#end;
    return { entries: seq, hash, at };
  }

  /** The last closed day; null before the first. */
  get closedThrough(): AuditDay | null {
    return this.#closedDays.through;
  }

  /** The days of the last lines, the oldest first, up to `MAX_RECENT` lines: of the first of them it may lack some. */
  async recentDays(): Promise<readonly SettledDay[]> {
    const days = new Map<AuditDay, SettledDay>();
    const slices = new TimeSlices();
    const from = Math.max(1, this.#end.seq - MAX_RECENT + 1);
    for await (const [, line] of settlementTable.under(this.#options.store, [], { from })) {
      if (slices.isOver) await slices.rest();
      const { at, amount } = settlementLine.parse(line).settlement;
      const day = dayOf(at);
      const { settled, atomicAmount } = days.get(day) ?? { settled: 0, atomicAmount: 0n };
      days.set(day, { day, settled: settled + 1, atomicAmount: atomicAmount + BigInt(amount) });
    }
    return [...days.values()];
  }

  /** What a wallet has paid here; undefined where it never did. */
  summaryOf(payer: WalletAddress): Promise<WalletSummary | undefined> {
    return walletTable.get(this.#options.store, payer);
  }

  /** Read between two writes, so that head and summary are of the same lines. */
  standingOf(payer: WalletAddress): Promise<WalletStanding> {
    return this.#inOrder(async () => ({ head: this.head, summary: await this.summaryOf(payer) }));
  }

  /**
   * Enters a settlement. It and the operations of `besides` are one atomic write. What comes while another is being
   * written goes together into the next. Where the store refuses, this throws `StoreError`, and nothing of it is there.
   */
  append(facts: SettlementFacts, besides: Waiting['besides']): Promise<Settlement> {
    const { promise, resolve, reject } = Promise.withResolvers<Settlement>();
    this.#waiting.push({ facts, besides, resolve, reject });
    void this.#inOrder(() => this.#writeWaiting());
    return promise;
  }

  /** After this, no line of the day or of one before it is written: its head stands. Throws `StoreError`. */
  closeThrough(day: AuditDay): Promise<void> {
    return this.#inOrder(() => this.#closedDays.closeThrough(day));
  }

  /** Takes back that days after this one are closed, as of the key-use log. Throws `StoreError`. */
  reopenAfter(day: AuditDay): Promise<void> {
    return this.#inOrder(() => this.#closedDays.reopenAfter(day));
  }

  /** Never rejects: the callers are told. */
  async #writeWaiting(): Promise<void> {
    const together = this.#waiting.splice(0, WRITE_SETTLEMENTS);
    if (together.length === 0) return;
    try {
      const written = await this.#write(together);
      together.forEach(({ resolve, reject }, i) => {
        const settlement = written[i];
        if (settlement === undefined) reject(new RangeError('a settlement was lost'));
        else resolve(settlement);
      });
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  async #write(together: readonly Waiting[]): Promise<readonly Settlement[]> {
    const { store } = this.#options;
    const wallets = await this.#summariesOf(together);
    const at = timestampOf(this.#closedDays.lineTime());
    const operations: Operation[] = [];
    const settlements: Settlement[] = [];
    let end = this.#end;
    for (const { facts, besides } of together) {
      const next = extendSettlements(nativeSuite, end, facts, at);
      const isSameDayAsBefore = end.at !== null && isSameDay(end.at, next.end.at);
      end = { ...next.end, dayFirst: isSameDayAsBefore ? end.dayFirst : next.end.seq };
      wallets.set(facts.payer, addSettlement(wallets.get(facts.payer), next.settlement));
      operations.push(settlementTable.put([end.seq], next.line), ...besides(next.settlement));
      settlements.push(next.settlement);
    }
    for (const [payer, summary] of wallets) {
      if (summary !== undefined) operations.push(walletTable.put([payer], summary));
    }
    await store.write([...operations, ...endRows(end)]);
    this.#end = end;
    return settlements;
  }

  async #summariesOf(together: readonly Waiting[]): Promise<Map<WalletAddress, WalletSummary | undefined>> {
    const payers = [...new Set(together.map(({ facts }) => facts.payer))];
    const summaries = await Promise.all(payers.map((payer) => this.summaryOf(payer)));
    return new Map(payers.map((payer, i) => [payer, summaries[i]]));
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** All lines of one write have one time, so they are of one day. */
function endRows({ seq, hash, at, dayFirst }: End): Operation[] {
  if (at === null) return [];
  return [
    settlementHeadTable.put([HEAD_ROW], { seq, hash, at, dayFirst }),
    settlementDayTable.put([dayOf(at), SETTLEMENT_ACCOUNT], { first: dayFirst, last: seq, head: hash }),
  ];
}
