import { readdir, readFile } from 'node:fs/promises';

const MICROSECOND_NS = 1_000;

/** What a process has taken of the processor since it began (Linux), in microseconds. */
export interface ProcessorTime {
  /** Of its first thread, which in Node runs the event loop. */
  readonly main: number;
  /** Of all threads that still live. */
  readonly all: number;
}

export async function processorTime(pid: number): Promise<ProcessorTime> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(threads.map(async (thread) => [thread, await threadTime(pid, thread)] as const));
  const main = times.find(([thread]) => thread === String(pid))?.[1];
  if (main === undefined) throw new Error(`process ${pid} has no first thread`);
  return { main, all: times.reduce((sum, [, time]) => sum + time, 0) };
}

async function threadTime(pid: number, thread: string): Promise<number> {
  // A thread that ended between the two reads has taken nothing more.
  const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1)[0]) / MICROSECOND_NS;
}
