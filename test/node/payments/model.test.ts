import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isOpen, isUncertain, paymentDraftTable, paymentTable } from '../../../node/payments/payment-tables.ts';
import { settlementTable } from '../../../node/payments/settlement-tables.ts';
import { addSettlement } from '../../../node/payments/wallet-summary.ts';
import type { WalletSummary } from '../../../node/payments/settlement-tables.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { beginSettlements, followSettlements, type Settlement } from '../../../protocol/payments/settlement.ts';
import { fc } from '../../fixtures/properties.ts';
import { type Behaviour, HONEST } from './fake-chain.ts';
import {
  callOf,
  type CallOptions,
  type Fate,
  NODE,
  nonceOf,
  PAYER,
  PaymentFixture,
  recordsOf,
} from './payment-fixture.ts';

const IDENTIFIERS = [null, 'pay_0123456789abcdef'] as const;
const RUNS = 60;
const NONCES = [1, 2, 3];
const REQUESTS = ['r', 's'];

type Step =
  | {
      readonly kind: 'calls';
      readonly calls: readonly CallOptions[];
      readonly behaviour: Behaviour;
      readonly fates: readonly Fate[];
    }
  | { readonly kind: 'restart' }
  | { readonly kind: 'upkeep'; readonly behaviour: Behaviour }
  | { readonly kind: 'arrive' }
  | { readonly kind: 'wait'; readonly seconds: number };

const behaviours: fc.Arbitrary<Behaviour> = fc.record({
  verify: fc.oneof(
    { weight: 8, arbitrary: fc.constant('honest' as const) },
    fc.constantFrom('unavailable' as const, 'throws' as const, 'hangs' as const),
  ),
  settle: fc.oneof(
    { weight: 3, arbitrary: fc.constant('honest' as const) },
    {
      weight: 7,
      arbitrary: fc.constantFrom(
        'refuses' as const,
        'declines' as const,
        'unavailable' as const,
        'throws-before' as const,
        'throws-after' as const,
        'hangs-before' as const,
        'hangs-after' as const,
        'hides' as const,
        'boasts' as const,
        'late' as const,
        'robbed' as const,
      ),
    },
  ),
  look: fc.oneof(
    { weight: 4, arbitrary: fc.constant('honest' as const) },
    fc.constantFrom('unknown' as const, 'throws' as const, 'hangs' as const),
  ),
});
const calls: fc.Arbitrary<CallOptions> = fc
  .record({
    nonce: fc.constantFrom(...NONCES),
    request: fc.oneof({ weight: 5, arbitrary: fc.constant('r') }, fc.constant('s')),
    isGone: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(({ nonce, request, isGone }) => ({ nonce, request, identifier: identifierOf(nonce), isWanted: () => !isGone }));
const fates: fc.Arbitrary<readonly Fate[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant('kept' as const) },
    fc.constantFrom('refused' as const, 'dies-before' as const, 'dies-after' as const),
  ),
  { maxLength: 6 },
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.array(calls, { minLength: 1, maxLength: 4 }),
      behaviour: behaviours,
      fates,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('upkeep' as const), behaviour: behaviours }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('arrive' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(10, 200, 400) }) },
);

/** The first payment is made under no identifier, the others under one and the same. */
function identifierOf(nonce: number): string | null {
  return IDENTIFIERS[nonce === 1 ? 0 : 1];
}

/** What was given out so far. */
class Given {
  /** Answers by nonce and request, as text. */
  readonly answers = new Map<string, string>();

  note(nonce: number, request: string, body: string): void {
    const key = `${nonce} ${request}`;
    const before = this.answers.get(key);
    if (before !== undefined) assert.is(body, before, 'a signature got two answers');
    this.answers.set(key, body);
  }
}

async function call(fixture: PaymentFixture, given: Given, options: CallOptions): Promise<void> {
  const outcome = await fixture.answer(callOf(options));
  if (typeof outcome === 'string') return;
  const { nonce = 1, request = 'r' } = options;
  assert.ok(outcome.receipt !== null);
  const isPaid = NONCES.some(
    (other) =>
      fixture.chain.stateOf(nonceOf(other)) === 'paid' &&
      (other === nonce || (identifierOf(nonce) !== null && identifierOf(other) === identifierOf(nonce))),
  );
  assert.ok(isPaid, 'an answer was given unpaid');
  given.note(nonce, request, JSON.stringify(outcome.body));
}

async function run(fixture: PaymentFixture, given: Given, step: Step): Promise<void> {
  switch (step.kind) {
    case 'calls': {
      const left = [...step.fates];
      fixture.fate = () => left.shift() ?? 'kept';
      fixture.chain.behaviour = step.behaviour;
      await Promise.all(step.calls.map((options) => call(fixture, given, options)));
      fixture.fate = () => 'kept';
      if (fixture.isDead) await fixture.restart();
      return;
    }
    case 'restart':
      return fixture.restart();
    case 'upkeep':
      fixture.chain.behaviour = step.behaviour;
      return fixture.opened.upkeep.look();
    case 'arrive':
      return fixture.chain.arrive();
    case 'wait':
      fixture.clock += step.seconds * 1000;
  }
}

/** With everybody honest again: anyone who was charged gets the answer, and the books agree with the chain. */
async function settleUp(fixture: PaymentFixture, given: Given): Promise<void> {
  fixture.chain.behaviour = HONEST;
  fixture.chain.arrive();
  await fixture.restart();
  for (const nonce of NONCES) {
    const wasPaid = fixture.chain.stateOf(nonceOf(nonce)) === 'paid';
    for (const request of REQUESTS) await call(fixture, given, { nonce, request, identifier: identifierOf(nonce) });
    const answered = REQUESTS.filter((request) => given.answers.has(`${nonce} ${request}`));
    if (wasPaid) assert.is(answered.length, 1, 'charged, and not answered, or twice');
  }
  await fixture.opened.upkeep.look();
}

async function settlementsOf(fixture: PaymentFixture): Promise<Settlement[]> {
  const found: Settlement[] = [];
  let end = beginSettlements(nativeSuite, NODE);
  for await (const [, line] of settlementTable.under(fixture.opened.store, [])) {
    const followed = followSettlements(nativeSuite, end, line);
    end = followed.end;
    found.push(followed.settlement);
  }
  assert.is(fixture.opened.ledger.head.hash, end.hash);
  return found;
}

async function compareWithChain(fixture: PaymentFixture): Promise<void> {
  const settlements = await settlementsOf(fixture);
  assert.equal(settlements.map(({ nonce }) => nonce).sort(), [...fixture.chain.paid].sort());
  let summary: WalletSummary | undefined;
  for (const settlement of settlements) summary = addSettlement(summary, settlement);
  assert.equal(await fixture.opened.ledger.summaryOf(PAYER), summary);
  const left = await Array.fromAsync(paymentTable.under(fixture.opened.store, []));
  assert.not.ok(
    left.some(([, row]) => isUncertain(row) || row.state === 'settled'),
    'a payment is not brought to its end',
  );
  const together = NONCES.filter((nonce) => identifierOf(nonce) !== null);
  const charged = together.filter((nonce) => fixture.chain.stateOf(nonceOf(nonce)) === 'paid');
  assert.ok(charged.length <= 1, 'two payments of one identifier were charged');
  const { store } = fixture.opened;
  const records = await recordsOf(store);
  for (const nonce of NONCES) {
    const made = records.filter(([, source]) => source === nonceOf(nonce));
    const isPaid = fixture.chain.stateOf(nonceOf(nonce)) === 'paid';
    assert.is(made.length, isPaid ? 2 : 0, 'records are made for exactly what was settled, once');
  }
  await comparePrepared(fixture);
}

/**
 * What is prepared and not made belongs to payments that can still be paid; the wallet's open ones are what the disk
 * says.
 */
async function comparePrepared({ opened: { store, open } }: PaymentFixture): Promise<void> {
  const payments = await Array.fromAsync(paymentTable.under(store, []));
  const openRows = payments.filter(([, row]) => isOpen(row));
  const prepared = await Array.fromAsync(paymentDraftTable.under(store, []));
  assert.is(
    prepared.length,
    openRows.reduce((sum, [, { drafts }]) => sum + drafts, 0),
  );
  assert.is(open.countOf(PAYER), openRows.length);
}

test('whatever fails and in whatever order: nothing served unpaid, nothing charged without its answer, the books agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 8 }), async (history) => {
      await using fixture = await PaymentFixture.open();
      const given = new Given();
      for (const step of history) await run(fixture, given, step);
      await settleUp(fixture, given);
      await compareWithChain(fixture);
    }),
    { numRuns: RUNS },
  );
});

test.run();
