// A thread that makes packs, one after the other. What it throws ends it, and fails the pack.
import { parentPort } from 'node:worker_threads';
import { PortCaller } from '../concurrency/port-call.ts';
import { PortReads } from '../store/port-reads.ts';
import { makePack } from './making/make-pack.ts';
import { type PackCalls, PackError, type PackOrder, type PackWord } from './pack-calls.ts';

parentPort?.on('message', async ({ port, ...order }: PackOrder) => {
  const calls = new PortCaller<PackCalls>(port);
  parentPort?.postMessage(await wordOn(order, calls), []);
  port.close();
});

async function wordOn(order: Omit<PackOrder, 'port'>, calls: PortCaller<PackCalls>): Promise<PackWord> {
  try {
    return await makePack(order, new PortReads(calls), calls);
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    return { kind: 'failed', reason: error.message };
  }
}
