import type { TestNode } from '../fixtures/test-node.ts';
import type { AttackReport } from './attack.ts';

/** What the second half of an attack may leave behind. In bytes. */
const MAX_GROWTH = 8 << 20;
/** Of the event loop, on a busy machine of two slow cores. In milliseconds. */
const MAX_LAG_P99 = 500;
const MAX_LAG = 8_000;
/** Least requests of the good caller in a second. */
const GOOD_PER_SECOND = 2;

/** What an attack brought to light; empty where the node stood. */
export function verdict({ hostile, good, heap, lag, records, seconds }: AttackReport, node: TestNode): string[] {
  const growth = heap.end - heap.half;
  const failures = [...hostile.faults, ...good.faults.map((fault) => `the good caller: ${fault}`)];
  if (growth > MAX_GROWTH) failures.push(`the heap grew by ${mebibytes(growth)} in the second half`);
  if (lag.p99 > MAX_LAG_P99) failures.push(`the event loop lagged by ${lag.p99} ms (p99)`);
  if (lag.max > MAX_LAG) failures.push(`the event loop lagged by ${lag.max} ms once`);
  if (records.made !== records.told) {
    failures.push(`${records.made} records were made, and callers were told of ${records.told}`);
  }
  const isServed = good.recorded.length >= GOOD_PER_SECOND * seconds;
  if (!isServed) failures.push(`the good caller got ${good.recorded.length} through`);
  if ('polluted' in {}) failures.push('a prototype was changed');
  failures.push(...node.log.slice(0, 5).map((line) => `in the log: ${line.slice(0, 2_000)}`));
  return failures;
}

export function print({ seconds, hostile: { outcomes }, good, heap, lag, records }: AttackReport): void {
  const sorted = [...good.milliseconds].sort((one, other) => one - other);
  const total = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${total} answers in ${seconds.toFixed(1)} s: ${(total / seconds).toFixed(0)}/s`);
  for (const [name, count] of [...outcomes].sort()) console.log(`  ${name}  ${count}`);
  console.log(
    `good caller: ${good.recorded.length} records, p99 ${sorted[Math.floor(sorted.length * 0.99)]?.toFixed(1)} ms`,
  );
  console.log(`heap: ${mebibytes(heap.half)} half-way, ${mebibytes(heap.end)} at the end`);
  console.log(`event loop: p99 ${lag.p99.toFixed(1)} ms, longest ${lag.max.toFixed(1)} ms`);
  console.log(`records: ${records.made} made, ${records.told} told of`);
}

function mebibytes(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
