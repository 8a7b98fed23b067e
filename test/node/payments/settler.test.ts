import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PaymentOutcome, Settled } from '../../../node/payments/facilitator/contract.ts';
import { FacilitatorError } from '../../../node/payments/facilitator/facilitator-error.ts';
import { Settler } from '../../../node/payments/settler.ts';
import { unused } from './fake-chain.ts';
import { callOf, START } from './payment-fixture.ts';

const TRANSACTION: `0x${string}` = `0x${'Ab'.repeat(32)}`;
const SETTLED: Settled = { transaction: TRANSACTION };
const LOST = new FacilitatorError('unknown-outcome', 'reply_lost');
const UNUSED = unused(false);
const { payment, terms } = callOf();

/** What comes of a settlement after a reply, while the chain says these, one after the other, the last for ever. */
async function settled(
  reply: Settled | FacilitatorError,
  ...said: readonly PaymentOutcome[]
): Promise<readonly [PaymentOutcome, looks: number]> {
  let looks = 0;
  const settler = new Settler({
    means: {
      isReady: true,
      facilitator: {
        settlers: [],
        verify: async () => {},
        settle: () => (reply instanceof FacilitatorError ? Promise.reject(reply) : Promise.resolve(reply)),
      },
      chain: {
        usdcBalance: async () => 0n,
        paymentOf: async () => said[Math.min(looks++, said.length - 1)] ?? UNUSED,
      },
      checkSignature: async () => {},
    },
    log: pino({ level: 'silent' }),
    deadlines: { lookAgainMs: [0, 0, 0] },
  });
  return [await settler.settle(payment, terms, { since: START, isAgain: false }), looks];
}

test('a payment that shows only at a later look is found, and no further look follows', async () => {
  const paid: PaymentOutcome = { kind: 'paid', transaction: TRANSACTION };
  const outcome = { kind: 'paid', transaction: TRANSACTION.toLowerCase() } as const;
  for (const reply of [SETTLED, LOST, new FacilitatorError('timeout', 'no_answer')]) {
    assert.equal(await settled(reply, UNUSED, paid), [outcome, 2]);
    assert.equal(await settled(reply, { kind: 'unknown' }, UNUSED, paid), [outcome, 3]);
    assert.equal(await settled(reply, paid), [outcome, 1]);
    assert.equal(await settled(reply, UNUSED), [{ kind: 'unknown' }, 4]);
  }
});

test('what cannot show any more is not looked for again', async () => {
  const [expired, looks] = await settled(LOST, unused(true));
  assert.equal([expired.kind, looks], ['unpaid', 1]);
  const [refused, once] = await settled(new FacilitatorError('refused', 'no_money'), UNUSED);
  assert.equal([refused, once], [{ kind: 'unpaid', reason: 'no_money', isTemporary: false, isOver: true }, 1]);
  const [burnt, first] = await settled(SETTLED, { kind: 'burnt', reason: 'authorization_used' });
  assert.equal([burnt.kind, first], ['burnt', 1]);
});

test('a chain that names no transaction hash has said nothing', async () => {
  for (const transaction of ['', '0x12', `${TRANSACTION}00`, TRANSACTION.slice(2), `${TRANSACTION.slice(0, -1)}g`]) {
    assert.equal((await settled(SETTLED, { kind: 'paid', transaction }))[0], { kind: 'unknown' }, transaction);
  }
});

test.run();
