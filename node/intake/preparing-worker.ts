// A thread that commits and encrypts drafts, a group an order. What it throws ends it, and fails the group under work.
import { parentPort, workerData } from 'node:worker_threads';
import { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { sealPacked } from './packed-drafts.ts';
import type { PreparingData, PreparingOrder } from './preparing-threads.ts';

const { payloadKey }: PreparingData = workerData;
const cipher = new PayloadCipher(payloadKey);

parentPort?.on('message', (order: PreparingOrder) => {
  const sealed = sealPacked(order, cipher);
  parentPort?.postMessage(sealed, [sealed.buffer]);
});
