import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openPaymentMeans } from '../../../node/payments/payment-services.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { signAuthorization } from '../../fixtures/chain-payer.ts';
import { FaultsFixture } from './faults-fixture.ts';
import { NOTE_PRICE } from './note-shop.ts';

const ROUNDS = 4;

const chain = await TestChain.start({ facilitators: ['eu', 'us'] });
const fixtures = [await openFixture('eu'), await openFixture('us')] as const;

test.after(async () => {
  for (const fixture of fixtures) await fixture[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

/** A node that settles by itself, and is paid at the same address as the other. */
async function openFixture(facilitator: string): Promise<FaultsFixture> {
  const log = pino({ level: 'silent' });
  const means = openPaymentMeans({ payments: chain.config(facilitator), production: false }, log);
  if (means === null) throw new Error('no means');
  return FaultsFixture.open(means);
}

function records(): number {
  return fixtures[0].records + fixtures[1].records;
}

test('one authorization at two nodes of one payee, together: one charge, one answer, one record', async () => {
  const before = await chain.balanceOf(chain.payTo);
  const made = records();
  for (let round = 0; round < ROUNDS; round++) {
    const signed = await signAuthorization(await chain.wallet(), { to: chain.payTo, value: NOTE_PRICE });
    // What the payment is made out for is not signed: a thief writes what each node wants to read.
    const answers = await Promise.all(fixtures.map((fixture) => fixture.ask(fixture.headerOf(signed))));
    assert.is(answers.filter(({ status }) => status === 200).length, 1, answers.map(({ text }) => text).join('\n'));
    for (const [at, fixture] of fixtures.entries()) {
      const again = await fixture.ask(fixture.headerOf(signed));
      assert.is(again.status, answers[at]?.status === 200 ? 200 : 402, again.text);
    }
  }
  assert.is((await chain.balanceOf(chain.payTo)) - before, NOTE_PRICE * BigInt(ROUNDS));
  assert.is(records() - made, ROUNDS);
});

test('one authorization at one node after the other: the second sells nothing for it', async () => {
  const [first, second] = fixtures;
  const made = records();
  const signed = await signAuthorization(await chain.wallet(), { to: chain.payTo, value: NOTE_PRICE });
  assert.is((await first.ask(first.headerOf(signed))).status, 200);
  const { runs } = second;
  const refused = await second.ask(second.headerOf(signed));
  assert.equal([refused.status, second.runs - runs, records() - made], [402, 0, 1]);
});

test.run();
