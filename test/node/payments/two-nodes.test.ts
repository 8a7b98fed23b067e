import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openPaymentMeans } from '../../../node/payment-rooms.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { signAuthorization } from '../../fixtures/chain-payer.ts';
import { FaultsRoom } from './faults-room.ts';
import { NOTE_PRICE } from './note-shop.ts';

const ROUNDS = 4;

const chain = await TestChain.start({ facilitators: ['eu', 'us'] });
const rooms = [await openRoom('eu'), await openRoom('us')] as const;

test.after(async () => {
  for (const room of rooms) await room[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

/** A node that settles by itself, and is paid at the same address as the other. */
async function openRoom(facilitator: string): Promise<FaultsRoom> {
  const log = pino({ level: 'silent' });
  const means = openPaymentMeans({ payments: chain.config(facilitator), production: false }, log);
  if (means === null) throw new Error('no means');
  return FaultsRoom.open(means);
}

function records(): number {
  return rooms[0].records + rooms[1].records;
}

test('one authorization at two nodes of one payee, together: one charge, one answer, one record', async () => {
  const before = await chain.balanceOf(chain.payTo);
  const made = records();
  for (let round = 0; round < ROUNDS; round++) {
    const signed = await signAuthorization(await chain.wallet(), { to: chain.payTo, value: NOTE_PRICE });
    // What the payment is made out for is not signed: a thief writes what each node wants to read.
    const answers = await Promise.all(rooms.map((room) => room.ask(room.headerOf(signed))));
    assert.is(answers.filter(({ status }) => status === 200).length, 1, answers.map(({ text }) => text).join('\n'));
    for (const [at, room] of rooms.entries()) {
      const again = await room.ask(room.headerOf(signed));
      assert.is(again.status, answers[at]?.status === 200 ? 200 : 402, again.text);
    }
  }
  assert.is((await chain.balanceOf(chain.payTo)) - before, NOTE_PRICE * BigInt(ROUNDS));
  assert.is(records() - made, ROUNDS);
});

test('one authorization at one node after the other: the second sells nothing for it', async () => {
  const [first, second] = rooms;
  const made = records();
  const signed = await signAuthorization(await chain.wallet(), { to: chain.payTo, value: NOTE_PRICE });
  assert.is((await first.ask(first.headerOf(signed))).status, 200);
  const { runs } = second;
  const refused = await second.ask(second.headerOf(signed));
  assert.equal([refused.status, second.runs - runs, records() - made], [402, 0, 1]);
});

test.run();
