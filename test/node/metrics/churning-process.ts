// A process that keeps 64 MiB alive and replaces them again and again, as a node under load does with what calls leave:
// each value outlives a few collections of the young generation. Tells V8 the flags that it is given. Prints the most that
// its heap ever held, in MiB.
import { setFlagsFromString } from 'node:v8';
import { boundHeapGrowth } from '../../../node/metrics/heap-growth.ts';

const KEPT = 64;
const ROUNDS = 800;
/** Of 2 KiB. */
const PIECE = Array.from({ length: 256 }, (_, i) => i + 0.5);
const PIECES = 512;

const kept: number[][][] = [];
boundHeapGrowth();
for (const flag of process.argv.slice(2)) setFlagsFromString(flag);
let most = 0;
for (let round = 0; round < ROUNDS; round++) {
  // A mebibyte.
  kept[round % KEPT] = Array.from({ length: PIECES }, () => PIECE.slice());
  most = Math.max(most, process.memoryUsage().heapUsed);
}
console.log(most >> 20);
