import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PaymentCharger } from '../../../node/payments/payment-charger.ts';
import { PaymentError } from '../../../node/payments/payment-error.ts';
import { type PaymentKey, paymentKey } from '../../../node/payments/payment-key.ts';
import type { PaymentRow } from '../../../node/payments/payment-tables.ts';
import type { PaymentOutcome } from '../../../node/payments/facilitator/contract.ts';
import { FacilitatorError } from '../../../node/payments/facilitator/facilitator-error.ts';
import { unused } from './fake-chain.ts';
import { Settler } from '../../../node/payments/settler.ts';
import { callOf, PaymentFixture, SERVICE, sha, START } from './payment-fixture.ts';
import { atomicAmount } from '../../../protocol/payments/usdc.ts';

const UNUSED = unused(false);
const EXPIRED = unused(true);
const { payment: signed, terms } = callOf();
const key: PaymentKey = paymentKey(signed.authorization, terms);

/** A payment's book on a real store, and a chain that says what a test says. */
class Desk {
  readonly fixture: PaymentFixture;
  readonly charger: PaymentCharger;
  /** Amounts that settlements were asked for. */
  readonly asked: string[] = [];
  outcome: PaymentOutcome = UNUSED;

  constructor(fixture: PaymentFixture) {
    this.fixture = fixture;
    const settler = new Settler({
      means: {
        isReady: true,
        facilitator: {
          settlers: null,
          verify: async () => {},
          settle: (_payment, { amount }) => {
            this.asked.push(amount);
            return Promise.reject(new FacilitatorError('refused', 'no_money'));
          },
        },
        chain: { usdcBalance: async () => 0n, paymentOf: async () => this.outcome },
        checkSignature: async () => {},
      },
      log: pino({ level: 'silent' }),
      deadlines: { lookAgainMs: [] },
    });
    this.charger = new PaymentCharger({ paymentStore: fixture.opened.paymentStore, settler });
  }

  /** A payment whose first settlement came to nothing: its work is held. */
  async held(): Promise<PaymentRow> {
    const { paymentStore } = this.fixture.opened;
    const row = paymentStore.fresh({
      request: sha('r'),
      proof: sha('p'),
      service: SERVICE,
      amount: atomicAmount(terms.amount),
      payTo: signed.authorization.to,
      validBefore: Number(signed.authorization.validBefore),
      since: START,
      identifier: null,
    });
    await refused(
      this.charger.charge({ key, row }, { signed, terms }, { answer: { body: {}, blanks: [] }, prepared: [] }),
    );
    const written = await paymentStore.read(key);
    assert.is(written?.state, 'unpaid');
    if (written === undefined) throw new Error('no row');
    return written;
  }
}

async function refused(charging: Promise<unknown>): Promise<void> {
  await charging.then(
    () => assert.unreachable(),
    (error: unknown) => assert.ok(error instanceof PaymentError),
  );
}

test('what a payment is charged is what it was begun for, also where the price has changed since', async () => {
  await using fixture = await PaymentFixture.open();
  const desk = new Desk(fixture);
  const row = await desk.held();
  const dearer = { ...terms, amount: atomicAmount('999999') };
  await refused(desk.charger.chargeHeld({ key, row }, { signed, terms: dearer }));
  await refused(desk.charger.chargeHeld({ key, row }, { signed, terms: dearer }));
  assert.equal(desk.asked, [terms.amount, terms.amount, terms.amount]);
});

test('of a payment that is unpaid only news are written: that it was paid after all, or that it is over', async () => {
  await using fixture = await PaymentFixture.open();
  const desk = new Desk(fixture);
  const row = await desk.held();
  const writes = fixture.opened.store.writes;
  for (const outcome of [UNUSED, { kind: 'unknown' }] as const) {
    desk.outcome = outcome;
    assert.equal(await desk.charger.lookUp({ key, row }), row, outcome.kind);
  }
  assert.is(fixture.opened.store.writes, writes);
  desk.outcome = EXPIRED;
  assert.is(await desk.charger.lookUp({ key, row }), undefined);
  assert.is(await fixture.opened.paymentStore.read(key), undefined, 'it is over, and forgotten');
});

test('where the chain cannot be read, an open payment stays what it is', async () => {
  await using fixture = await PaymentFixture.open();
  const desk = new Desk(fixture);
  const open: PaymentRow = { ...(await desk.held()), state: 'settling' };
  desk.outcome = { kind: 'unknown' };
  assert.is((await desk.charger.lookUp({ key, row: open }))?.state, 'settling');
  desk.outcome = EXPIRED;
  assert.is(await desk.charger.lookUp({ key, row: { ...open, state: 'unknown' } }), undefined);
});

test.run();
