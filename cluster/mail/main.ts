import { parseArgs } from 'node:util';
import { type KeptMail, startMailSink } from './mail-sink.ts';
import { toldToStop } from '../told-to-stop.ts';

const DESCRIPTION = 'development mail sink';

if (process.env['NODE_ENV'] === 'production') throw new Error(`${DESCRIPTION}: refused in production`);

const { values: flags } = parseArgs({
  options: {
    directory: { type: 'string' },
    port: { type: 'string', default: '4330' },
  },
});
if (!flags.directory) throw new Error('--directory DIR is needed');

const stop = toldToStop();

await using sink = await startMailSink({ directory: flags.directory, port: portOf(flags.port), onMail: logMail });
const ready = {
  ready: true,
  description: DESCRIPTION,
  pid: process.pid,
  smtpPort: sink.port,
  directory: sink.directory,
};
process.send?.(ready);
console.log(JSON.stringify(ready));
await stop;
if (process.connected) process.disconnect();

/** Whom it went to and where it is. Never what it says: mails hold keys. */
function logMail({ to, file }: KeptMail): void {
  console.log(JSON.stringify({ time: new Date().toISOString(), to, file }));
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Error(`${text} is not a port`);
  return port;
}
