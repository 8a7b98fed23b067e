const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves once this process is told to stop: by a signal, or by the end of the process that started it and holds its
 * IPC channel, however that came, and also where it came before this was called. Call it before anything starts.
 */
export function toldToStop(): Promise<void> {
  const stop = Promise.withResolvers<void>();
  for (const signal of SIGNALS) process.once(signal, () => stop.resolve());
  process.once('disconnect', () => stop.resolve());
  // Undefined where there never was a channel.
  if (process.connected === false) stop.resolve();
  return stop.promise;
}
