import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

const GIBIBYTE = 1 << 30;

/** The machine that the numbers belong to, and how busy it was with other work when the bench began. */
export function machineLine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / GIBIBYTE);
  const busy = loadavg()[0]?.toFixed(2) ?? '?';
  const cores = availableParallelism();
  return `${model}, ${cores} cores, ${memory} GiB · Node.js ${process.version} · load before the start: ${busy}`;
}
