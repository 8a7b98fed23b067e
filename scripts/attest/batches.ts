import type { DecisionLine } from './decision-file.ts';
import type { Sending } from './state-file.ts';

/** Lines of one call at most, and their bytes: a few seconds of work, and a quarter of what a call may have. */
const MAX_LINES = 1_000;
const MAX_BYTES = 8 << 20;
/** Bytes of a line that a batch takes; a longer one is sent by itself. */
const MAX_LINE_BYTES = 64 << 10;

/**
 * Cuts the lines of a file into what is sent together. The same file is always cut alike; where it was sent cut another
 * way, `sent` has each sending by its first line.
 */
export async function* batchesOf(
  lines: AsyncIterable<DecisionLine>,
  sent: ReadonlyMap<number, Pick<Sending, 'last'>>,
): AsyncGenerator<readonly DecisionLine[]> {
  let batch: DecisionLine[] = [];
  let bytes = 0;
  for await (const line of lines) {
    const length = Buffer.byteLength(line.text);
    const last = sent.get(batch[0]?.number ?? 0)?.last;
    const isOver = batch.length >= MAX_LINES || bytes + length > MAX_BYTES || length > MAX_LINE_BYTES;
    const isCut = sent.has(line.number) || (last === undefined ? isOver : line.number > last);
    if (batch.length > 0 && isCut) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(line);
    bytes += length;
    if (length <= MAX_LINE_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
