/**
 * Processor time of the longest turn of the event loop while something runs, in milliseconds. What other processes took
 * meanwhile is not in it, as it would be in a delay.
 */
export async function longestTask(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  let isOver = false;
  const look = (): void => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user - before.user + now.system - before.system);
    before = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  try {
    await run();
  } finally {
    isOver = true;
  }
  look();
  return longest / 1000;
}
