// A preparing thread that ends in the middle of a group with a payload that says so.
import { parentPort } from 'node:worker_threads';
import { sealPacked } from '../../../node/intake/packed-drafts.ts';
import type { PreparingOrder } from '../../../node/intake/preparing-threads.ts';
import { cipher } from './intake-fixture.ts';

parentPort?.on('message', (order: PreparingOrder) => {
  const text = Buffer.from(order).toString('latin1');
  if (text.includes('throw in it')) throw new Error('thrown in the thread');
  if (text.includes('end in it')) process.exit();
  const sealed = sealPacked(order, cipher);
  parentPort?.postMessage(sealed, [sealed.buffer]);
});
