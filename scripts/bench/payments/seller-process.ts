import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isSellerSetup, type SellerSetup, type SellerState } from './seller-forms.ts';

/** How often the memory is looked at, in milliseconds. */
const LOOK_MS = 20;
const NANOSECONDS_PER_MS = 1e6;
const MICROSECONDS_PER_MS = 1e3;

/**
 * Serves a seller's process: opened by the first message, which it answers with its port; every other is how it is
 * doing.
 */
export function serveSeller(open: (setup: SellerSetup) => Promise<number>): void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let peakRss = 0;
  let cpu = process.cpuUsage();
  const look = (): void => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  };
  setInterval(look, LOOK_MS).unref();
  const stateNow = (): SellerState => {
    look();
    const [loopP99, loopMax] = [delay.percentile(99) / NANOSECONDS_PER_MS, delay.max / NANOSECONDS_PER_MS];
    const { user, system } = process.cpuUsage(cpu);
    collectGarbage();
    const { rss, heapUsed: heap } = process.memoryUsage();
    const cpuMs = (user + system) / MICROSECONDS_PER_MS;
    const state = { cpuMs, heap, rss, peakRss, loopP99, loopMax };
    delay.reset();
    peakRss = 0;
    cpu = process.cpuUsage();
    return state;
  };
  process.on('message', (message: unknown) => {
    if (!isSellerSetup(message)) return void process.send?.(stateNow());
    void open(message).then((port) => process.send?.({ port }));
  });
  process.once('SIGTERM', () => process.exit());
  process.once('disconnect', () => process.exit());
}

/** What is left then is in use. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}
