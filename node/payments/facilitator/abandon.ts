/** What comes of some work, unless the signal comes first: then it throws, and the work is left to itself. */
export async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abandon = (): void => reject(signal.reason);
  signal.addEventListener('abort', abandon, { once: true });
  if (signal.aborted) abandon();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}
