import Type, { type Static } from 'typebox';
import { type FactValues, THROUGHPUT_WINDOW_SECONDS } from '../../../protocol/api/fact-values.ts';
import { ConsensusTimestampShape, CountShape } from '../../../protocol/shapes.ts';
import { type ConsensusTimestamp, isConsensusTimestamp } from '../../../protocol/time.ts';
import { MirrorFormatError, reader } from '../../anchoring/ledger/mirror-shapes.ts';
import type { MirrorReading } from './mirror-reading.ts';

/** Blocks in a page: the most that a public mirror gives. A public network makes 30 in the window. */
const PAGE_BLOCKS = 100;
const MAX_PAGES = 10;
const NANOS_PER_SECOND = 1_000_000_000n;
const WINDOW_NANOS = BigInt(THROUGHPUT_WINDOW_SECONDS) * NANOS_PER_SECOND;
const RATE_DECIMALS = 3;

const BlockShape = Type.Object({
  count: CountShape,
  number: CountShape,
  timestamp: Type.Object({ from: ConsensusTimestampShape, to: ConsensusTimestampShape }),
});
type Block = Static<typeof BlockShape>;

const blocksPage = reader('blocks', Type.Object({ blocks: Type.Array(BlockShape, { maxItems: PAGE_BLOCKS }) }));

/** Blocks of the window, the latest first, and how far back they reach. */
interface Window {
  readonly blocks: readonly Block[];
  readonly from: ConsensusTimestamp;
  readonly to: ConsensusTimestamp;
  readonly truncated: boolean;
}

/**
 * Counts the transactions of the blocks that lie in the window, whose end is the mirror's clock. `from` is where the
 * counting begins: the beginning of the window, or the end of the block that reaches over it, which is left out.
 */
export async function readThroughput(mirror: MirrorReading): Promise<FactReading<FactValues['throughput']>> {
  const { blocks, from, to, truncated } = await readWindow(mirror);
  const transactionCount = blocks.reduce((sum, { count }) => sum + count, 0);
  const seconds = Number(nanosOf(to) - nanosOf(from)) / Number(NANOS_PER_SECOND);
  const tps = seconds > 0 ? Number((transactionCount / seconds).toFixed(RATE_DECIMALS)) : 0;
  return {
    value: { windowSeconds: THROUGHPUT_WINDOW_SECONDS, transactionCount, tps, from, to, truncated },
    asOf: to,
  };
}

async function readWindow(mirror: MirrorReading): Promise<Window> {
  const blocks: Block[] = [];
  for await (const block of latestBlocks(mirror)) {
    const { to } = (blocks[0] ?? block).timestamp;
    const start = nanosOf(to) - WINDOW_NANOS;
    if (nanosOf(block.timestamp.from) < start) return { blocks, from: beginning(start, block), to, truncated: false };
    blocks.push(block);
  }
  const [latest] = blocks;
  const oldest = blocks.at(-1);
  if (latest === undefined || oldest === undefined) throw new MirrorFormatError('blocks: none');
  const { to } = latest.timestamp;
  // Nothing lies before the first block of a ledger.
  const isWhole = oldest.number === 0;
  return {
    blocks,
    from: isWhole ? written(nanosOf(to) - WINDOW_NANOS) : oldest.timestamp.from,
    to,
    truncated: !isWhole,
  };
}

/** The latest first, each the one before the last. */
async function* latestBlocks(mirror: MirrorReading): AsyncGenerator<Block> {
  let last: Block | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const before = last === undefined ? '' : `&block.number=lt:${last.number}`;
    const { blocks } = await mirror.read(`/blocks?limit=${PAGE_BLOCKS}&order=desc${before}`, blocksPage);
    for (const block of blocks) {
      requireBefore(last, block);
      last = block;
      yield block;
    }
    if (blocks.length === 0 || last?.number === 0) return;
  }
}

/** Where the counting begins, given the block that begins before the window. */
function beginning(start: bigint, { count, timestamp }: Block): ConsensusTimestamp {
  const end = nanosOf(timestamp.to);
  // One without transactions has none to leave out.
  return count > 0 && end > start ? timestamp.to : written(start);
}

/** A block that is left out would be transactions that are not counted. */
function requireBefore(later: Block | undefined, { number, timestamp: { from, to } }: Block): void {
  if (nanosOf(from) > nanosOf(to)) throw new MirrorFormatError('blocks: one ends before it begins');
  if (later === undefined) return;
  if (number !== later.number - 1) throw new MirrorFormatError(`blocks: ${number} comes before ${later.number}`);
  if (nanosOf(to) >= nanosOf(later.timestamp.from)) throw new MirrorFormatError('blocks: two overlap');
}

function nanosOf(time: ConsensusTimestamp): bigint {
  return BigInt(time.replace('.', ''));
}

function written(nanos: bigint): ConsensusTimestamp {
  const floor = nanos > 0n ? nanos : 0n;
  const text = `${floor / NANOS_PER_SECOND}.${String(floor % NANOS_PER_SECOND).padStart(9, '0')}`;
  if (!isConsensusTimestamp(text)) throw new MirrorFormatError(`blocks: a time of ${text}`);
  return text;
}

/** What a mirror says of a fact, and up to which time of the ledger it is so. */
export interface FactReading<Value> {
  readonly value: Value;
  readonly asOf: ConsensusTimestamp;
}
