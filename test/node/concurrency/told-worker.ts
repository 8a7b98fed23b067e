// A thread that does what it is told: says it again, tells its environment or its niceness, opens compressed bytes for a while, never answers, throws, or takes all memory.
import { getPriority } from 'node:os';
import { parentPort, threadId } from 'node:worker_threads';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const OPENING_MS = 30;
const COMPRESSED = zstdCompressSync('compressed');

parentPort?.on('message', (order: string) => {
  if (order === 'throw') throw new Error('thrown in the thread');
  if (order === 'end') process.exit();
  if (order === 'fill') {
    for (const held: number[][] = []; ;) held.push(Array.from({ length: 100_000 }, () => Math.random()));
  }
  if (order === 'open') for (const end = Date.now() + OPENING_MS; Date.now() < end;) zstdDecompressSync(COMPRESSED);
  if (order === 'environment') parentPort?.postMessage(JSON.stringify(process.env), []);
  else if (order === 'niceness') parentPort?.postMessage(String(getPriority()), []);
  else if (order !== 'hang') parentPort?.postMessage(`${order} by ${threadId}`, []);
});
