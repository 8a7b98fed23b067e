import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DailyHeads } from '../../../node/accounts/audit-log/daily-heads.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { dailyHeadDraft } from '../../../node/accounts/audit-log/daily-head-draft.ts';
import {
  SETTLEMENT_ACCOUNT,
  settlementAttestedTable,
  settlementDayTable,
  settlementHeadProjection,
  settlementTable,
} from '../../../node/payments/settlement-tables.ts';
import { newRecordId } from '../../../node/records/record-id.ts';

import { timestampOf } from '../../../protocol/time.ts';
import { auditDay, dayOf } from '../../../protocol/audit/day.ts';
import { walletAddress } from '../../../protocol/payments/payment.ts';
import { beginSettlements, followSettlements, type SettlementFacts } from '../../../protocol/payments/settlement.ts';
import { atomicAmount, USDC } from '../../../protocol/payments/usdc.ts';
import { NODE, nonceOf, PAY_TO, PAYER, PaymentFixture, START } from './payment-fixture.ts';

const DAY_MS = 86_400_000;

function facts(nonce: number, more: Partial<SettlementFacts> = {}): SettlementFacts {
  return {
    amount: atomicAmount('1000'),
    asset: walletAddress(USDC.asset),
    network: USDC.network,
    nonce: nonceOf(nonce),
    payTo: walletAddress(PAY_TO),
    payer: PAYER,
    service: 'hedera-fact',
    transaction: `0x${nonce.toString(16).padStart(64, '0')}`,
    ...more,
  };
}

async function linesOf(fixture: PaymentFixture): Promise<string[]> {
  return (await Array.fromAsync(settlementTable.under(fixture.opened.store, []))).map(([, line]) => line);
}

test('lines follow one another by hash, from the name of the ledger to its head', async () => {
  await using fixture = await PaymentFixture.open();
  const { ledger } = fixture.opened;
  const entered = await Promise.all([1, 2, 3, 4].map((nonce) => ledger.append(facts(nonce), () => [])));
  assert.equal(
    entered.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  let end = beginSettlements(nativeSuite, NODE);
  for (const line of await linesOf(fixture)) ({ end } = followSettlements(nativeSuite, end, line));
  assert.equal(ledger.head, { entries: 4, hash: end.hash, at: end.at });
  await fixture.restart();
  assert.equal(fixture.opened.ledger.head.hash, end.hash);
});

test('what comes together is written together', async () => {
  await using fixture = await PaymentFixture.open();
  const { ledger, store } = fixture.opened;
  const before = store.writes;
  await Promise.all(Array.from({ length: 100 }, (_, i) => ledger.append(facts(i + 1), () => [])));
  assert.ok(store.writes - before <= 2);
  assert.is(ledger.head.entries, 100);
});

test('a write that the disk refuses leaves no line, and the next takes its place', async () => {
  await using fixture = await PaymentFixture.open();
  const { ledger } = fixture.opened;
  fixture.fate = () => 'refused';
  await ledger
    .append(facts(1), () => [])
    .then(
      () => assert.unreachable(),
      (error: unknown) => assert.match(String(error), /refused/),
    );
  fixture.fate = () => 'kept';
  assert.is((await ledger.append(facts(2), () => [])).seq, 1);
  assert.is((await linesOf(fixture)).length, 1);
  assert.is((await ledger.summaryOf(PAYER))?.count, 1);
});

test('a wallet is summed up by service', async () => {
  await using fixture = await PaymentFixture.open();
  const { ledger } = fixture.opened;
  await ledger.append(facts(1), () => []);
  fixture.clock += 5_000;
  await ledger.append(facts(2, { service: 'regwatch-feed', amount: atomicAmount('50000') }), () => []);
  await ledger.append(facts(3), () => []);
  assert.equal(await ledger.summaryOf(PAYER), {
    count: 3,
    spent: '52000',
    firstSeen: '2026-11-21T12:00:00.000Z',
    lastSeen: '2026-11-21T12:00:05.000Z',
    services: { 'hedera-fact': { count: 2, spent: '2000' }, 'regwatch-feed': { count: 1, spent: '50000' } },
  });
  assert.is(await ledger.summaryOf(walletAddress(`0x${'9'.repeat(40)}`)), undefined);
});

test('a clock that goes back does not take the ledger back, and a closed day stays closed', async () => {
  await using fixture = await PaymentFixture.open();
  const { ledger } = fixture.opened;
  const first = await ledger.append(facts(1), () => []);
  fixture.clock -= 60_000;
  assert.is((await ledger.append(facts(2), () => [])).at, first.at);
  await ledger.closeThrough(auditDay('2026-11-21'));
  assert.is((await ledger.append(facts(3), () => [])).at, '2026-11-22T00:00:00.000Z');
});

test('the last days are summed up, each by what was settled on it', async () => {
  await using fixture = await PaymentFixture.open();
  const { ledger } = fixture.opened;
  assert.equal(await ledger.recentDays(), []);
  for (const nonce of [1, 2]) await ledger.append(facts(nonce), () => []);
  fixture.clock += 2 * DAY_MS;
  await ledger.append(facts(3, { amount: atomicAmount('2500') }), () => []);
  assert.equal(
    (await ledger.recentDays()).map(({ day, settled, atomicAmount: sum }) => [day, settled, sum]),
    [
      [dayOf(timestampOf(START)), 2, 2_000n],
      [dayOf(timestampOf(START + 2 * DAY_MS)), 1, 2_500n],
    ],
  );
});

test('the head of every day is attested once, when the day is over', async () => {
  await using fixture = await PaymentFixture.open();
  const { ledger, store } = fixture.opened;
  const attested: unknown[] = [];
  const heads = new DailyHeads({
    store,
    auditLog: ledger,
    tables: { open: settlementDayTable, attested: settlementAttestedTable },
    now: () => fixture.clock,
    isClockRight: () => fixture.isClockRight,
    log: pino({ level: 'silent' }),
    async attest(head, besides) {
      const { claims, account } = dailyHeadDraft('settlement-head', head, besides);
      const id = newRecordId(NODE, fixture.clock);
      attested.push({ account, ...claims });
      await store.write([...besides(), settlementAttestedTable.put([head.account, head.day], id)]);
      return id;
    },
  });
  await ledger.append(facts(1), () => []);
  await ledger.append(facts(2), () => []);
  const { hash } = ledger.head;
  assert.is(await heads.look(), 0);
  const closed = ledger.closedThrough;
  fixture.isClockRight = false;
  fixture.clock = START + 1_000 * DAY_MS;
  assert.is(await heads.look(), 0);
  assert.is(ledger.closedThrough, closed, 'no day is closed by a clock that is not known to be right');
  fixture.isClockRight = true;
  await ledger.closeThrough(dayOf(timestampOf(fixture.clock)));
  fixture.clock = START;
  assert.is(await heads.look(), 0);
  assert.is(ledger.closedThrough, closed, 'days that a clock which was ahead has closed are open again');
  fixture.clock = START + DAY_MS;
  assert.is(await heads.look(), 1);
  assert.is(await heads.look(), 0);
  assert.equal(attested, [
    {
      account: SETTLEMENT_ACCOUNT,
      channel: 'tiered',
      auditDay: '2026-11-21',
      auditEntries: 2,
      auditHead: hash,
      keyEvent: 'settlement-head',
    },
  ]);
  assert.is(settlementHeadProjection.table, settlementAttestedTable);
  await heads[Symbol.asyncDispose]();
});

test.run();
