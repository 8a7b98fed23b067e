// A thread that checks ranges of groups, one after the other. What it throws ends it, and fails the range under work.
import { parentPort } from 'node:worker_threads';
import { GroupChecker } from './group-check.ts';
import type { RangeOrder } from './group-checks.ts';

parentPort?.on('message', ({ payloadKey, range }: RangeOrder) => {
  parentPort?.postMessage(new GroupChecker(payloadKey).check(range), []);
});
