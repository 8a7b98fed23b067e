import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count, milliseconds, ratio } from '../table.ts';
import { Market, type Round, type Seller } from './market.ts';
import type { PayerAnswer } from './payer-forms.ts';
import { PLAIN_PATH, RECORD_PATH } from './seller-forms.ts';

/** Calls of a round, by how many are under way at a time. */
const FULL = {
  rounds: 3,
  calls: [
    { together: 1, calls: 30 },
    { together: 16, calls: 96 },
    { together: 64, calls: 128 },
  ],
};
const QUICK = { rounds: 1, calls: [{ together: 16, calls: 32 }] };
const BESIDE = ['stock', 'ratio'];
const WARM_UP = { calls: 60, together: 8 };

interface Sold extends PayerAnswer {
  /** Processor time of the seller's process a call, in milliseconds. */
  readonly cpu: number;
}
interface Pair {
  readonly gate: Sold;
  readonly stock: Sold;
}
type Figure = 'perSecond' | 'p50' | 'p99' | 'cpu';

/** Paid calls of the node's gate beside the stock middleware, against one chain that mines at once. */
export const payments: Part = {
  name: 'payments',
  title: 'Payments: the node’s gate beside the stock middleware of x402',
  async run(options): Promise<Result> {
    await using market = await Market.open(options.home, null);
    const gate = await market.openSeller('gate');
    const stock = await market.openSeller('stock');
    for (const seller of [gate, stock]) await market.round({ seller, path: PLAIN_PATH, ...WARM_UP });
    const rows = await measure(market, gate, stock, options);
    const record = await withRecord(market, gate, options);
    return {
      table: [['at a time', 'gate', ...BESIDE, 'p50', ...BESIDE, 'p99', ...BESIDE, 'cpu', ...BESIDE], ...rows],
      notes: [
        'Paid calls a second and their times; medians of alternating rounds, ratios of paired rounds. Every payee was found',
        'to have exactly the prices of its answers. Both settle in their own process, from their own account, on one anvil',
        'that mines at once. The gate also keeps its ledger on the disk: two synced writes a call, the answer before the',
        'charge; the stock middleware keeps nothing. cpu: time of the seller’s process a call. Payer, sellers and chain share',
        'the cores.',
        record,
      ],
    };
  },
};

async function measure(
  market: Market,
  gate: Seller,
  stock: Seller,
  { quick, say, signal }: BenchOptions,
): Promise<string[][]> {
  const { rounds, calls } = quick ? QUICK : FULL;
  const table: string[][] = [];
  for (const load of calls) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      const of = (seller: Seller) => sold(market, { seller, path: PLAIN_PATH, ...load });
      // Anyone who comes second finds a longer chain: they take turns at it.
      const first = round % 2 === 0 ? await of(gate) : await of(stock);
      const second = round % 2 === 0 ? await of(stock) : await of(gate);
      const pair = round % 2 === 0 ? { gate: first, stock: second } : { gate: second, stock: first };
      pairs.push(pair);
      const [ours, theirs] = [pair.gate.perSecond.toFixed(1), pair.stock.perSecond.toFixed(1)];
      say(`${load.together} at a time: gate ${ours}/s, stock ${theirs}/s`);
    }
    table.push(rowOf(load.together, pairs));
  }
  return table;
}

function rowOf(together: number, pairs: readonly Pair[]): string[] {
  const of = (side: keyof Pair, figure: Figure) => median(pairs.map((pair) => pair[side][figure]));
  const paired = (figure: Figure) => ratio(median(pairs.map((pair) => pair.gate[figure] / pair.stock[figure])));
  const times = (figure: Figure) => [
    milliseconds(of('gate', figure)),
    milliseconds(of('stock', figure)),
    paired(figure),
  ];
  return [
    String(together),
    `${of('gate', 'perSecond').toFixed(1)}/s`,
    `${of('stock', 'perSecond').toFixed(1)}/s`,
    paired('perSecond'),
    ...times('p50'),
    ...times('p99'),
    ...times('cpu'),
  ];
}

/** The same with a record a call, as most endpoints make. */
async function withRecord(market: Market, seller: Seller, { quick, signal }: BenchOptions): Promise<string> {
  signal.throwIfAborted();
  const [calls, together] = quick ? [32, 16] : [96, 16];
  const { perSecond, p50 } = await sold(market, { seller, path: RECORD_PATH, calls, together });
  return `With one record a call, ${together} at a time: ${count(perSecond)}/s, p50 ${milliseconds(p50)}.`;
}

async function sold(market: Market, round: Round): Promise<Sold> {
  const { seller } = round;
  await seller.state();
  const answer = await market.round(round);
  const failed = JSON.stringify(answer.failed);
  if (failed !== '{}') throw new Error(`${seller.name} did not sell everything: ${failed}`);
  const { cpuMs } = await seller.state();
  return { ...answer, cpu: cpuMs / answer.answers };
}
