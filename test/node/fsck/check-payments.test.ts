import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { restorationTable } from '../../../node/federation/start/restoration-table.ts';
import { paymentCheck } from '../../../node/fsck/check-payments.ts';
import { settlementCheck } from '../../../node/fsck/check-settlements.ts';
import { Report } from '../../../node/fsck/report.ts';
import { PaymentCipher } from '../../../node/payments/payment-cipher.ts';
import { HELD_MS } from '../../../node/payments/payment-store.ts';
import { preparedKeyTable } from '../../../node/records/payload/payload-keys.ts';
import { preparedRow } from '../../../node/payments/prepared-rows.ts';
import { SETTLEMENT_ACCOUNT, settlementAttestedTable } from '../../../node/payments/settlement-tables.ts';
import { joinTexts } from '../../../node/records/record-lines.ts';
import { bodyTable, recordIndex } from '../../../node/records/record-tables.ts';
import { Store } from '../../../node/store/store.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { RecordChain } from '../../fixtures/federation-record.ts';
import { HONEST } from '../payments/fake-chain.ts';
import { callOf, NODE, payloads, PAYLOAD_KEY, PaymentFixture } from '../payments/payment-fixture.ts';
import { del, type Mutation, put, StoredRows } from './damaged-home.ts';
import { edit, flip, move, otherDigit, swap } from './mutations.ts';

const DAY_MS = 86_400_000;
const IDENTIFIER = 'pay_0123456789abcdef';
const scratch = await mkdtemp(join(tmpdir(), 'fsck-payments-'));
const home = join(scratch, 'store');

/** A store with payments in every state, on two days. */
test.before(async () => {
  await using fixture = await PaymentFixture.open();
  const behave = async (behaviour: object, ...calls: readonly Parameters<typeof callOf>[0][]): Promise<void> => {
    fixture.chain.behaviour = { ...HONEST, ...behaviour };
    for (const call of calls) await fixture.answer(callOf(call));
  };
  await behave({}, { nonce: 1 }, { nonce: 2, identifier: IDENTIFIER });
  fixture.clock += DAY_MS;
  const later = { validBefore: DAY_MS / 1000 + 300 };
  await behave({}, { nonce: 3, ...later });
  await behave({ settle: 'refuses' }, { nonce: 4, ...later, identifier: `${IDENTIFIER}-2` });
  await behave({ settle: 'late' }, { nonce: 5, ...later });
  await behave({ settle: 'robbed' }, { nonce: 6, ...later });
  fixture.isIntakeStopped = true;
  await behave({}, { nonce: 7, ...later });
  await fixture.stop();
  await cp(fixture.storeDirectory, home, { recursive: true });
});
test.after(() => rm(scratch, { recursive: true }));

/** What the checks find in a copy of the store in which rows were changed. */
async function checked(mutation?: Mutation): Promise<Report> {
  const copy = `${home}-changed`;
  await cp(home, copy, { recursive: true });
  try {
    await using store = await Store.open(copy);
    if (mutation !== undefined) await store.write(await mutation(new StoredRows(store)));
    return await reportOf(store);
  } finally {
    await rm(copy, { recursive: true });
  }
}

async function reportOf(store: Store): Promise<Report> {
  const report = new Report();
  const held = new PaymentCipher(PAYLOAD_KEY);
  const check = { store, report, keys: null, own: NODE, cipher: payloads, agentKeys: null, held, signal: undefined };
  await paymentCheck.run(check);
  await settlementCheck.run(check);
  return report;
}

test('a whole ledger of payments: nothing to report, every row looked at', async () => {
  const report = await checked();
  assert.equal(report.findings, []);
  const { payments, paymentsOpen, paymentsUnpublished, paymentsHeld, recordsPrepared } = report.counts;
  assert.equal([payments, paymentsOpen, paymentsUnpublished, paymentsHeld, recordsPrepared], [7, 2, 1, 6, 6]);
  assert.equal([report.counts.settlements, report.counts.wallets], [4, 1]);
});

test('payments whose answers have ended are whole, and tell no request', async () => {
  await using fixture = await PaymentFixture.open();
  for (const call of [{ nonce: 1 }, { nonce: 2, identifier: IDENTIFIER }]) await fixture.take(callOf(call));
  fixture.clock += HELD_MS;
  await fixture.opened.upkeep.look();
  const { findings, counts } = await reportOf(fixture.opened.store);
  assert.equal([findings, counts.payments, counts.paymentsHeld], [[], 2, 0]);
});

test('lines of the ledger that were lost with a restore: a warning where a restoration explains it', async () => {
  const { record, texts } = new RecordChain('head', NODE).append({ kind: 'key_event' }, timestampOf(0));
  for (const [isHeld, detail] of [
    [true, 'attests another head, or another number of lines, than the ledger has'],
    [false, 'is attested, but the ledger has no line of this day'],
  ] as const) {
    const told = async (unsealed: number): Promise<string> => {
      const { findings } = await checked(async (rows) => {
        const [open] = await rows.at('settlement-day/', 0);
        const day = isHeld ? (open.split('/')[1] ?? '') : '2099-01-01';
        const takenAt = timestampOf(0);
        return [
          bodyTable.put([NODE, 1], joinTexts([texts])),
          recordIndex.put([record.id], 1),
          settlementAttestedTable.put([SETTLEMENT_ACCOUNT, day], record.id),
          restorationTable.put([NODE, takenAt], { takenAt, held: { batch: 0, next: 1 }, unsealed, settled: null }),
        ];
      });
      const found = findings.filter(({ table }) => table === settlementAttestedTable.name);
      return found.map(({ severity, detail: text }) => `${severity} ${text}`).join('\n');
    };
    assert.match(await told(0), new RegExp(`^warning .*${detail}: its lines after the copy .* are lost$`));
    assert.match(await told(1_000), new RegExp(`^problem .*${detail}$`));
  }
});

test('a row of any of the tables that is gone is missed', async () => {
  const missed: string[] = [];
  const copy = `${home}-dropped`;
  await cp(home, copy, { recursive: true });
  await using store = await Store.open(copy);
  const rows = new StoredRows(store);
  const all = [...(await rows.under('payment')), ...(await rows.under('settlement')), ...(await rows.under('wallet'))];
  assert.ok(all.length > 35);
  for (const [key, value] of all) {
    await store.write([del(key)]);
    if ((await reportOf(store)).found('problem') === 0) missed.push(key);
    await store.write([{ type: 'put', key, value }]);
  }
  assert.equal(missed, []);
});

const LINE = 'settlement/';
const PUBLICATION = `{"submittedAt":"2026-11-21T12:00:00.000Z","groupRoot":"sha256:${'0'.repeat(64)}"}`;
const dropSeed: Mutation = async (rows) => {
  const [, bytes] = await rows.at('payment-draft/', 0);
  return [del(preparedKeyTable.key(preparedRow(bytes).id))];
};
/** As if a crash had come between the records and what says that they are made. */
const makeRecord: Mutation = async (rows) => {
  const [, bytes] = await rows.at('payment-draft/', 0);
  return [recordIndex.put([preparedRow(bytes).id], 1)];
};
/** An answer in the place of one of a payment that is burnt. */
const holdBurnt: Mutation = async (rows) => {
  const [, answer] = await rows.at('payment-answer/', 0);
  const burnt = (await rows.under('payment/')).find(([, value]) => Buffer.from(value).includes('"state":"burnt"'));
  if (burnt === undefined) throw new Error('none is burnt');
  return [put(burnt[0].replace('payment/', 'payment-answer/'), answer)];
};
const DAMAGES: readonly (readonly [what: string, mutation: Mutation, table: string, detail: RegExp])[] = [
  [
    'an amount in the ledger is changed',
    edit(LINE, 1, (s) => s.replace('"amount":"1000"', '"amount":"1001"')),
    'settlement',
    /hash of/,
  ],
  [
    'the last line is changed',
    edit(LINE, 3, (s) => s.replace('"amount":"1000"', '"amount":"1001"')),
    'settlement-head',
    /does not stand/,
  ],
  [
    'a day begins at another line',
    edit('settlement-day', 0, (s) => s.replace(/"first":\d+/, '"first":9')),
    'settlement-day',
    /does not tell/,
  ],
  [
    'a payment was for another service',
    edit('payment/', 0, (s) => s.replace('"service":"hedera-fact"', '"service":"hedera-sum"')),
    'payment',
    /is not the payment that line 1/,
  ],
  [
    'a payment names another transaction',
    edit('payment/', 0, (s) => s.replace(/("transaction":"0x)./, otherDigit)),
    'payment',
    /is not the payment that line 1/,
  ],
  [
    'a prepared record commits to another payload',
    edit('payment-draft', 0, (s) => s.replace(/("payloadHash":"sha256:)./, otherDigit)),
    'payment-draft',
    /not what it commits to/,
  ],
  [
    'an identifier is of another request',
    edit('payment-identifier', 0, (s) => s.replace(/("request":"sha256:)./, otherDigit)),
    'payment-identifier',
    /not made under it/,
  ],
  [
    'a payment whose answer is held tells no request',
    edit('payment/', 0, (s) => s.replace(/"request":"[^"]*"/, '"request":null')),
    'payment',
    /its answer is held/,
  ],
  [
    'an open payment tells no request',
    edit('payment/', 4, (s) => s.replace(/"request":"[^"]*"/, '"request":null')),
    'payment',
    /tells no request/,
  ],
  [
    'an identifier tells no request, and its payment does',
    edit('payment-identifier', 0, (s) => s.replace(/"request":"[^"]*"/, '"request":null')),
    'payment-identifier',
    /not made under it/,
  ],
  [
    'an identifier is of another payer',
    move('payment-identifier', 0, (key) => key.replace('aaaa', 'bbbb')),
    'payment-identifier',
    /not made under it/,
  ],
  ['an answer is held for a payment that is burnt', holdBurnt, 'payment-answer', /held for no payment/],
  ['two lines are swapped', swap(LINE, 0, 1), 'settlement', /says that it is line 2/],
  ['a line stands elsewhere', move(LINE, 3, (key) => key.replace(/.$/, '9')), 'settlement', /holds line 4/],
  ['a line is no line', edit(LINE, 0, () => '{}'), 'settlement', /settlement line/],
  [
    'a day tells another head',
    edit('settlement-day', 0, (s) => s.replace(/"last":\d+/, '"last":9')),
    'settlement-day',
    /does not tell/,
  ],
  [
    'the head tells another day',
    edit('settlement-head', 0, (s) => s.replace('"dayFirst":3', '"dayFirst":1')),
    'settlement-head',
    /does not stand/,
  ],
  [
    'a wallet has paid more',
    edit('wallet/', 0, (s) => s.replace('"count":4', '"count":5')),
    'wallet',
    /does not sum up/,
  ],
  [
    'a wallet that never paid',
    move('wallet/', 0, (key) => key.replace('aaaa', 'bbbb')),
    'wallet',
    /belongs to no settlement/,
  ],
  [
    'a settled payment is of another line',
    edit('payment/', 0, (s) => s.replace('"seq":1', '"seq":2')),
    'payment',
    /is not settled by line 2/,
  ],
  [
    'an unpaid payment says that it is settled',
    edit('payment/', 3, (s) => s.replace('"unpaid"', '"settled"')),
    'payment',
    /says otherwise/,
  ],
  [
    'a settled payment says where its records stand',
    edit('payment/', 6, (s) => s.replace('"publication":null', `"publication":${PUBLICATION}`)),
    'payment',
    /where its records stand/,
  ],
  [
    'an open payment has an end',
    edit('payment/', 4, (s) => s.replace('"ends":null', '"ends":1')),
    'payment',
    /says otherwise/,
  ],
  ['an answer is changed', flip('payment-answer', 0, 20), 'payment-answer', /does not open/],
  ['two answers are swapped', swap('payment-answer', 0, 1), 'payment-answer', /does not open/],
  ['a prepared payload is changed', flip('payment-draft', 0, -20), 'payment-draft', /does not open/],
  ['a prepared record is changed', flip('payment-draft', 0, 20), 'payment-draft', /does not read/],
  ['the key of a prepared payload is gone', dropSeed, 'payload-key', /its record is prepared/],
  ['a prepared record is made already', makeRecord, 'payment-draft', /made already/],
  [
    'a record is prepared for no payment',
    move('payment-draft', 0, (key) => key.replace(/.$/, '9')),
    'payment-draft',
    /for no payment/,
  ],
  [
    'an answer is of no payment',
    move('payment-answer', 0, (key) => key.replace(/.$/, 'f')),
    'payment-answer',
    /for no payment/,
  ],
  [
    'an end is at another time',
    move('payment-end', 0, (key) => key.replace(/\d{4}\/eip/, '0001/eip')),
    'payment-end',
    /is not when/,
  ],
  [
    'an identifier leads to another payment',
    swap('payment-identifier', 0, 1),
    'payment-identifier',
    /not made under it/,
  ],
  [
    'a row has another form',
    edit('payment/', 0, (s) => s.replace('"attempts"', '"tries"')),
    'payment',
    /does not read/,
  ],
];

for (const [what, mutation, table, detail] of DAMAGES) {
  test(`found: ${what}`, async () => {
    const { findings } = await checked(mutation);
    const told = findings.map((finding) => `${finding.severity} ${finding.table} ${finding.detail}`);
    assert.ok(
      findings.some(
        (finding) => finding.severity === 'problem' && finding.table === table && detail.test(finding.detail),
      ),
      told.join('\n') || 'nothing was found',
    );
  });
}

test.run();
