import type { Part, Result } from '../part.ts';
import { count, mebibytes, milliseconds } from '../table.ts';
import { Market, type Seller } from './market.ts';
import type { PayerAnswer } from './payer-forms.ts';
import { PLAIN_PATH, type SellerState } from './seller-forms.ts';

const BLOCK_SECONDS = 2;
const WARM_UP = { calls: 100, together: 100 };
const FULL = { waves: 3, together: 1_000 };
const QUICK = { waves: 1, together: 200 };

interface Wave {
  readonly answer: PayerAnswer;
  readonly state: SellerState;
}

/** Many paid calls that wait for their blocks, and what holding them costs the node. */
export const waiting: Part = {
  name: 'payments-waiting',
  title: `Payments: many calls in flight while a block comes every ${BLOCK_SECONDS} seconds`,
  async run({ home, quick, say, signal }): Promise<Result> {
    await using market = await Market.open(home, BLOCK_SECONDS);
    const gate = await market.openSeller('gate');
    await market.round({ seller: gate, path: PLAIN_PATH, ...WARM_UP });
    const before = await gate.state();
    const { waves, together } = quick ? QUICK : FULL;
    const done: Wave[] = [];
    for (let wave = 0; wave < waves; wave++) {
      signal.throwIfAborted();
      done.push(await waveOf(market, gate, together));
      say(`${together} calls: ${JSON.stringify(done.at(-1))}`);
    }
    return {
      table: [
        [
          'wave',
          'in flight',
          'answered',
          'a second',
          'p50',
          'p99',
          'RSS before',
          'peak',
          'after',
          'loop p99',
          'longest',
        ],
        ...done.map((wave, i) => rowOf(i + 1, wave, done[i - 1]?.state ?? before)),
      ],
      notes: [
        'All calls of a wave are made at once, each with a payment of its own, by one process over as many connections, which',
        'also signs them. RSS of the seller’s process, and after each wave what its heap holds once garbage is collected. A',
        'busy machine turns some away: payments that are not checked in 10 seconds are refused with 503. Where a wave was',
        'answered as a whole, the payee was found to have exactly its prices.',
      ],
    };
  },
};

async function waveOf(market: Market, seller: Seller, together: number): Promise<Wave> {
  const answer = await market.round({ seller, path: PLAIN_PATH, calls: together, together });
  return { answer, state: await seller.state() };
}

function rowOf(wave: number, { answer, state }: Wave, before: SellerState): string[] {
  const { answers, most, perSecond, p50, p99 } = answer;
  return [
    String(wave),
    count(most),
    count(answers),
    count(perSecond),
    milliseconds(p50),
    milliseconds(p99),
    mebibytes(before.rss),
    mebibytes(state.peakRss),
    mebibytes(state.rss),
    mebibytes(state.heap),
    milliseconds(state.loopP99),
    milliseconds(state.loopMax),
  ];
}
