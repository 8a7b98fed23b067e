import type { Part, Result } from '../part.ts';
import { count } from '../table.ts';
import { FoundedNode } from './founded-node.ts';
import { checkStore, type StoreCheck } from './store-check.ts';

const FULL_RECORDS = 50_000;
const QUICK_RECORDS = 2_000;
/** Threads beside the first: none, and as many as two and more processors have work for. */
const THREADS = [0, 1, 2];
const MEBIBYTE = 1 << 20;

/** What checking a store costs, by the threads that take part. */
export const fsck: Part = {
  name: 'fsck',
  title: 'fsck: a stopped node’s store proved whole, by threads that judge records',
  async run({ home, quick, say, signal }): Promise<Result> {
    const records = quick ? QUICK_RECORDS : FULL_RECORDS;
    await using founded = await FoundedNode.found(home);
    {
      await using filling = await founded.startFilling();
      await filling.ask({ ask: 'fill', records, samples: 0 });
    }
    say(`${count(records)} records made`);
    const rows: string[][] = [];
    for (const threads of THREADS) {
      signal.throwIfAborted();
      rows.push(rowOf(threads, await checkStore(founded.home, signal, threads)));
    }
    return {
      table: [
        ['threads', 'records', 'time', 'records/s', 'processor a record: main', 'all', 'memory of its own'],
        ...rows,
      ],
      notes: [
        'The command as an operator runs it, in a process of its own; its time without, its processor with the start of Node and of',
        'each thread, which weighs less the larger the store. Records of one account and 20 sources, in groups of 1,000.',
      ],
    };
  },
};

function rowOf(threads: number, { records, seconds, processor, own }: StoreCheck): string[] {
  return [
    String(threads),
    count(records),
    `${seconds.toFixed(1)} s`,
    count(records / seconds),
    `${(processor.main / records).toFixed(1)} µs`,
    `${(processor.all / records).toFixed(1)} µs`,
    `${count(own / MEBIBYTE)} MiB`,
  ];
}
