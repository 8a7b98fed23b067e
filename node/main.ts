import pino from 'pino';
import { startApp } from './app.ts';
import { configOf } from './config/config.ts';
import { readEnvironment } from './config/environment.ts';
import { openContext } from './context.ts';

// Registered before anything opens: a signal during the start still ends the node in order.
const stop = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.resolve());
// A node that a supervisor started goes with it, however the supervisor went.
process.once('disconnect', () => stop.resolve());

const config = configOf(readEnvironment());
const log = pino({ level: config.logLevel, base: { node: config.id } });
{
  await using context = await openContext(config, log);
  await using app = await startApp(context);
  process.send?.({ ready: true, httpPort: app.httpPort });
  await stop.promise;
  log.info('the node is stopping');
}
// The ledger SDK keeps a timer for some seconds; everything of ours is closed.
process.exit();
