import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChainOutcome, PaymentProcessor, SettleReply } from '../../../node/payments/processor.ts';
import { Settler, type SettlementOutcome } from '../../../node/payments/settler.ts';
import { callOf, START } from './payment-fixture.ts';

const TRANSACTION = `0x${'Ab'.repeat(32)}`;
const SETTLED: SettleReply = { kind: 'settled', transaction: TRANSACTION };
const UNUSED: ChainOutcome = { kind: 'unused', expired: false };
const { payment, terms } = callOf();

/** What comes of a settlement after a reply, while the chain says these, one after the other, the last for ever. */
async function settled(
  reply: SettleReply,
  ...said: readonly ChainOutcome[]
): Promise<readonly [SettlementOutcome, looks: number]> {
  let looks = 0;
  const processor: PaymentProcessor = {
    isReady: true,
    checkSignature: async () => ({ kind: 'valid' }),
    balanceOf: async () => null,
    verify: async () => ({ kind: 'valid' }),
    settle: async () => reply,
    outcomeOf: async () => said[Math.min(looks++, said.length - 1)] ?? UNUSED,
  };
  const settler = new Settler({ processor, log: pino({ level: 'silent' }), deadlines: { lookAgainMs: [0, 0, 0] } });
  return [await settler.settle(payment, terms, { since: START, isAgain: false }), looks];
}

test('a payment that shows only at a later look is found, and no further look follows', async () => {
  const paid: ChainOutcome = { kind: 'paid', transaction: TRANSACTION };
  const verdict = { kind: 'paid', transaction: TRANSACTION.toLowerCase() } as const;
  for (const reply of [SETTLED, { kind: 'unclear' }] as const) {
    assert.equal(await settled(reply, UNUSED, paid), [verdict, 2]);
    assert.equal(await settled(reply, { kind: 'unknown' }, UNUSED, paid), [verdict, 3]);
    assert.equal(await settled(reply, paid), [verdict, 1]);
    assert.equal(await settled(reply, UNUSED), [{ kind: 'unknown' }, 4]);
  }
});

test('what cannot show any more is not looked for again', async () => {
  const [expired, looks] = await settled({ kind: 'unclear' }, { kind: 'unused', expired: true });
  assert.equal([expired.kind, looks], ['unpaid', 1]);
  const [refused, once] = await settled({ kind: 'refused', reason: 'no_money', isCertain: true }, UNUSED);
  assert.equal([refused, once], [{ kind: 'unpaid', reason: 'no_money', isTemporary: false, isOver: true }, 1]);
  const [burnt, first] = await settled(SETTLED, { kind: 'burnt' });
  assert.equal([burnt.kind, first], ['burnt', 1]);
});

test('a chain that names no transaction hash has said nothing', async () => {
  for (const transaction of ['', '0x12', `${TRANSACTION}00`, TRANSACTION.slice(2), `${TRANSACTION.slice(0, -1)}g`]) {
    assert.equal((await settled(SETTLED, { kind: 'paid', transaction }))[0], { kind: 'unknown' }, transaction);
  }
});

test.run();
