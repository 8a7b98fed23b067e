import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createMailer } from '../../../node/accounts/mail/mailer.ts';
import { ended, type ForkedMain, forkMain } from '../../fixtures/forked-main.ts';
import { SmtpClient } from './smtp-client.ts';

const MAIN = join(import.meta.dirname, '../../../cluster/mail/main.ts');
const directory = await mkdtemp(join(tmpdir(), 'meridian-mail-main-'));

test.after(() => rm(directory, { recursive: true, force: true }));

test('says in its log whom a mail went to and where it is, never what it says', async () => {
  const sink = await start();
  await using mailer = createMailer({ host: '127.0.0.1', port: sink.port, tls: 'none', login: null, from: 'f@m.test' });
  await mailer.send({ to: 'a@example.test', subject: 'your secret subject', text: 'mk_secret' });
  const allRead = once(sink.child, 'close');
  sink.child.kill('SIGTERM');
  await allRead;
  const [file] = await readdir(directory);
  const lines = sink.output().trim().split('\n');
  assert.is(lines.length, 2);
  assert.equal(Object.keys(JSON.parse(lines[1] ?? '')), ['time', 'to', 'file']);
  assert.match(lines[1] ?? '', `"to":["a@example.test"],"file":"${file}"`);
  assert.not.match(sink.output(), /secret/);
});

test('ends soon after SIGTERM, of SIGINT and of its parent, also with a client hanging on', async () => {
  for (const how of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    const { child, port } = await start();
    using client = new SmtpClient(port);
    await client.greet();
    const started = performance.now();
    await ended(child, () => (how === 'disconnect' ? child.disconnect() : child.kill(how)));
    assert.ok(performance.now() - started < 5_000, how);
    assert.is(child.exitCode, 0);
  }
});

test('refuses production, a port that is none, and flags it does not know', async () => {
  for (const [env, flags, reason] of [
    [{ NODE_ENV: 'production' }, [], 'refused in production'],
    [{}, ['--port=smtp'], 'smtp is not a port'],
    [{}, ['--colour=red'], 'Unknown option'],
  ] as const) {
    await start(env, flags).then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, reason),
    );
  }
});

interface SinkProcess extends ForkedMain {
  readonly port: number;
}

async function start(env: Record<string, string> = {}, flags: readonly string[] = []): Promise<SinkProcess> {
  const sink = await forkMain(MAIN, ['--directory', directory, '--port', '0', ...flags], env);
  const { ready } = sink;
  if (typeof ready !== 'object' || ready === null || !('smtpPort' in ready)) throw new Error('it tells no port');
  return { ...sink, port: Number(ready.smtpPort) };
}

test.run();
