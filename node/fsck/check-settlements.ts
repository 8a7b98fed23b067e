import { type AuditDay, dayOf, isAuditDay } from '../../protocol/audit/day.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { isRecordId, nodeOfRecord } from '../../protocol/ids.ts';
import { isWalletAddress, type WalletAddress } from '../../protocol/payments/payment.ts';
import {
  beginSettlements,
  type ExtendedSettlements,
  followSettlements,
  type Settlement,
  type SettlementEnd,
  settlementsBefore,
} from '../../protocol/payments/settlement.ts';
import { CLOSED_ROW } from '../accounts/audit-log/closed-days.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { keyParts } from '../payments/payment-key.ts';
import { paymentTable } from '../payments/payment-tables.ts';
import {
  HEAD_ROW,
  SETTLEMENT_ACCOUNT,
  settlementAttestedTable,
  settlementClosedTable,
  settlementDayTable,
  settlementHeadTable,
  settlementTable,
  type WalletSummary,
  walletTable,
} from '../payments/settlement-tables.ts';
import { addSettlement } from '../payments/wallet-summary.ts';
import { recordIndex } from '../records/record-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { type AttestsLost, LOST_WITH_RESTORE, readLostLines } from './lost-lines.ts';
import { recordAt } from './record-at.ts';
import { decodeRow, readRows, reasonOf } from './rows.ts';

/** Wallets that are summed up in memory. Of a ledger with more, the summaries are not looked at. */
const MAX_WALLETS = 200_000;

/** The summaries of wallets, recounted along the settlement ledger. */
class WalletWalk {
  readonly #check: Check;
  readonly #maxWallets: number;
  readonly #sums = new Map<WalletAddress, WalletSummary>();

  constructor(check: Check, maxWallets = MAX_WALLETS) {
    this.#check = check;
    this.#maxWallets = maxWallets;
  }

  take(settlement: Settlement): void {
    const { payer } = settlement;
    if (this.#sums.size <= this.#maxWallets) this.#sums.set(payer, addSettlement(this.#sums.get(payer), settlement));
  }

  /** After the last line. */
  async finish(): Promise<void> {
    const { store, report } = this.#check;
    if (this.#sums.size > this.#maxWallets) {
      report.notChecked.push('summaries of wallets: there are more than memory holds');
      return;
    }
    for (const [payer, summary] of this.#sums) {
      report.count('wallets');
      const row = walletTable.put([payer], summary);
      const stored = await store.get(row.key);
      if (stored === undefined) report.problem(walletTable.name, row.key, 'is missing');
      else if (row.type === 'put' && !equalBytes(stored, row.value)) {
        report.problem(walletTable.name, row.key, 'does not sum up the settlements of its wallet');
      }
    }
    for await (const { key, parts } of readRows(this.#check, walletTable)) {
      const [payer = ''] = parts;
      if (parts.length === 1 && isWalletAddress(payer) && this.#sums.has(payer)) continue;
      report.problem(walletTable.name, key, 'belongs to no settlement');
    }
  }
}

/**
 * The settlement ledger: its chain from the first line to its head, each day open or attested with the numbers that the
 * record tells, every line beside its settled payment, and the summaries of wallets recounted.
 */
export const settlementCheck: TableCheck = {
  tables: [
    settlementTable,
    settlementHeadTable,
    settlementDayTable,
    settlementClosedTable,
    settlementAttestedTable,
    walletTable,
  ],
  async run(check) {
    if (check.own === null) check.report.notChecked.push('whose settlement ledger it is: the node is not known');
    await new SettlementWalk(check, await closedThrough(check), await readLostLines(check)).run();
  },
};

async function closedThrough({ store, report }: Check): Promise<AuditDay | null> {
  const key = settlementClosedTable.key(CLOSED_ROW);
  const bytes = await store.get(key);
  return (bytes && decodeRow(report, settlementClosedTable, key, bytes)) ?? null;
}

interface Span {
  readonly day: AuditDay;
  readonly first: number;
  readonly end: SettlementEnd;
}

/** Follows the chain. What comes after a line at fault cannot be told, so the walk ends there. */
class SettlementWalk {
  readonly #check: Check;
  readonly #closed: AuditDay | null;
  readonly #attestsLost: AttestsLost;
  readonly #days = new Set<string>();
  readonly #wallets: WalletWalk;
  #end: SettlementEnd | undefined;
  #span: Span | undefined;

  constructor(check: Check, closed: AuditDay | null, attestsLost: AttestsLost) {
    this.#check = check;
    this.#closed = closed;
    this.#attestsLost = attestsLost;
    this.#wallets = new WalletWalk(check);
  }

  async run(): Promise<void> {
    for await (const { key, value } of readRows(this.#check, settlementTable)) {
      const next = value === undefined ? undefined : this.#follow(key, value);
      if (next === undefined) return;
      await this.#take(next);
    }
    if (this.#span !== undefined) await this.#checkDay(this.#span);
    await this.#checkHead();
    await this.#findStrays();
    await this.#wallets.finish();
  }

  #follow(key: string, line: string): ExtendedSettlements | undefined {
    const { own, report } = this.#check;
    try {
      this.#end ??= own === null ? settlementsBefore(line) : beginSettlements(nativeSuite, own);
      const next = followSettlements(nativeSuite, this.#end, line);
      if (key === settlementTable.key(next.end.seq)) return next;
      report.problem(settlementTable.name, key, `holds line ${next.end.seq}`);
    } catch (error) {
      report.problem(settlementTable.name, key, reasonOf(error));
    }
    return undefined;
  }

  async #take({ settlement, end }: ExtendedSettlements): Promise<void> {
    this.#check.report.count('settlements');
    const day = dayOf(end.at);
    if (this.#span !== undefined && this.#span.day !== day) await this.#checkDay(this.#span);
    this.#span = { day, first: this.#span?.day === day ? this.#span.first : end.seq, end };
    this.#days.add(day);
    this.#end = end;
    this.#wallets.take(settlement);
    await this.#checkPayment(settlement);
  }

  async #checkPayment(settlement: Settlement): Promise<void> {
    const { store, report } = this.#check;
    const { seq, transaction, amount, payTo, service } = settlement;
    const key = paymentTable.key(...keyParts(settlement));
    const row = await paymentTable.get(store, ...keyParts(settlement)).catch(() => undefined);
    const isSame = row?.amount === amount && row.payTo === payTo && row.service === service;
    if (isSame && row.settlement?.seq === seq && row.settlement.transaction === transaction) return;
    report.problem(paymentTable.name, key, `is not the payment that line ${seq} of the settlement ledger settles`);
  }

  /** A day is open, or attested by a record that tells the same. */
  async #checkDay({ day, first, end: { seq: last, hash: head } }: Span): Promise<void> {
    const { store, report } = this.#check;
    const key = settlementDayTable.key(day, SETTLEMENT_ACCOUNT);
    const bytes = await store.get(key);
    const open = bytes && decodeRow(report, settlementDayTable, key, bytes);
    if (open !== undefined && (open.first !== first || open.last !== last || open.head !== head)) {
      report.problem(settlementDayTable.name, key, 'does not tell the lines of its day');
    }
    const attested = await this.#attestedRecord(day);
    if (attested === undefined) {
      const detail = 'is missing, and no record attests the day';
      if (bytes === undefined) report.problem(settlementDayTable.name, key, detail);
      return;
    }
    const { auditEntries, auditHead } = attested.claims;
    if (auditEntries !== last - first + 1 || auditHead !== head) {
      const detail = `${attested.id} attests another head, or another number of lines, than the ledger has`;
      const attestedKey = settlementAttestedTable.key(SETTLEMENT_ACCOUNT, day);
      const isLost = this.#attestsLost(attested, day);
      if (isLost) report.warning(settlementAttestedTable.name, attestedKey, `${detail}: ${LOST_WITH_RESTORE}`);
      else report.problem(settlementAttestedTable.name, attestedKey, detail);
    }
    if (this.#closed === null || day > this.#closed) {
      report.problem(
        settlementClosedTable.name,
        settlementClosedTable.key(CLOSED_ROW),
        `is before ${day}, which is attested`,
      );
    }
  }

  /** That it follows from its record is checked along the chain of records. */
  async #attestedRecord(day: string): Promise<AttestationRecord | undefined> {
    const { store } = this.#check;
    const id = await settlementAttestedTable.get(store, SETTLEMENT_ACCOUNT, day).catch(() => undefined);
    if (id === undefined || !isRecordId(id)) return undefined;
    const seq = await recordIndex.get(store, id).catch(() => undefined);
    return seq === undefined ? undefined : recordAt(store, nodeOfRecord(id), seq);
  }

  async #checkHead(): Promise<void> {
    const { store, report } = this.#check;
    const key = settlementHeadTable.key(HEAD_ROW);
    const bytes = await store.get(key);
    const head = bytes && decodeRow(report, settlementHeadTable, key, bytes);
    const end = this.#end;
    if (end === undefined || this.#span === undefined) {
      if (bytes !== undefined) report.problem(settlementHeadTable.name, key, 'belongs to no ledger');
    } else if (bytes === undefined) report.problem(settlementHeadTable.name, key, 'is missing');
    else if (
      head !== undefined &&
      (head.seq !== end.seq || head.hash !== end.hash || head.at !== end.at || head.dayFirst !== this.#span.first)
    ) {
      report.problem(settlementHeadTable.name, key, `does not stand at line ${end.seq}, the last of the ledger`);
    }
  }

  async #findStrays(): Promise<void> {
    const { report } = this.#check;
    for await (const { key, parts } of readRows(this.#check, settlementDayTable)) {
      const [day = '', account = ''] = parts;
      if (parts.length === 2 && account === SETTLEMENT_ACCOUNT && this.#days.has(day)) continue;
      report.problem(settlementDayTable.name, key, 'belongs to no day of the ledger');
    }
    const [firstDay = ''] = this.#days;
    for await (const { key, parts } of readRows(this.#check, settlementAttestedTable)) {
      const [, day = ''] = parts;
      if (this.#days.has(day)) continue;
      const { name } = settlementAttestedTable;
      const detail = 'is attested, but the ledger has no line of this day';
      if (firstDay === '' || day < firstDay) {
        report.warning(name, key, 'was attested of a ledger that is lost: the one here begins later');
      } else if (await this.#isLost(day)) report.warning(name, key, `${detail}: ${LOST_WITH_RESTORE}`);
      else report.problem(name, key, detail);
    }
  }

  /** Whether what attests a day attests lines that are lost. */
  async #isLost(day: string): Promise<boolean> {
    if (!isAuditDay(day)) return false;
    const attested = await this.#attestedRecord(day);
    return attested !== undefined && this.#attestsLost(attested, day);
  }
}
