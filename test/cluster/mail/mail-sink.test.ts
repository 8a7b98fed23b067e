import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startMailSink } from '../../../cluster/mail/mail-sink.ts';
import { createMailer } from '../../../node/accounts/mail/mailer.ts';
import { TestMailSink } from '../../fixtures/mail-sink.ts';
import { fc } from '../../fixtures/properties.ts';
import { SmtpClient } from './smtp-client.ts';

const KIB = 1024;

test('keeps each mail whole in a file for its owner only, named in the order of arrival', async () => {
  await using sink = await TestMailSink.start();
  using client = new SmtpClient(sink.config.port);
  await client.greet();
  for (const text of ['first', '..a dot', 'third']) {
    assert.match(
      await client.mail([`${text.length}@example.test`, 'b@example.test'], `Subject: s\r\n\r\n${text}`),
      /^250 .*\.eml/,
    );
  }
  const files = (await readdir(sink.directory)).sort();
  assert.equal(
    files,
    sink.kept.map(({ file }) => file),
  );
  const trace = 'Return-Path: <from@example.test>\r\nDelivered-To: 7@example.test\r\nDelivered-To: b@example.test\r\n';
  assert.is(await readFile(join(sink.directory, files[1] ?? ''), 'latin1'), `${trace}Subject: s\r\n\r\n.a dot\r\n`);
  assert.match(files[0] ?? '', /^\d{8}T\d{9}Z-000001-[0-9a-f]{6}\.eml$/);
  for (const file of files) assert.is((await stat(join(sink.directory, file))).mode & 0o777, 0o600);
});

test('refuses a mail over the limit, announced or not, and goes on', async () => {
  await using sink = await TestMailSink.start({ messageBytes: 64 * KIB });
  using client = new SmtpClient(sink.config.port);
  assert.match(await client.greet(), /^250.SIZE 65536/m);
  assert.match(await client.say('MAIL FROM:<from@example.test> SIZE=65537'), /^552/);
  assert.match(await client.mail(['a@example.test'], 'x'.repeat(64 * KIB)), /^552/);
  assert.match(await client.mail(['a@example.test'], 'x'.repeat(10 * KIB * KIB)), /^552/);
  assert.equal(await readdir(sink.directory), []);
  assert.match(await client.mail(['a@example.test'], 'x'.repeat(64 * KIB - 2)), /^250/);
});

test('keeps nothing of a mail that was not sent to its end', async () => {
  await using sink = await TestMailSink.start();
  using client = new SmtpClient(sink.config.port);
  await client.greet();
  await client.say('MAIL FROM:<from@example.test>');
  await client.say('RCPT TO:<a@example.test>');
  await client.say('DATA');
  client.write('Subject: half');
  await sleep(50);
  client[Symbol.dispose]();
  await sleep(50);
  assert.equal(await readdir(sink.directory), []);
});

test('answers that a mail could not be written, and never that it was', async () => {
  await using sink = await TestMailSink.start();
  using client = new SmtpClient(sink.config.port);
  await client.greet();
  await rm(sink.directory, { recursive: true });
  assert.match(await client.mail(['a@example.test'], 'text'), /^451/);
  assert.equal(sink.kept, []);
});

test('survives garbage and endless lines', async () => {
  await using sink = await TestMailSink.start({ silenceMs: 300 });
  const command = fc.constantFrom(
    'EHLO x',
    'MAIL FROM:<a@b.test>',
    'RCPT TO:<a@b.test>',
    'DATA',
    '.',
    'RSET',
    'AUTH PLAIN AA==',
    'STARTTLS',
    'VRFY a',
    'QUIT',
    'XCLIENT NAME=x',
  );
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString('latin1'));
  const sessions = fc.sample(fc.array(fc.oneof(command, bytes), { maxLength: 30 }), 30);
  const clients = sessions.map((lines) => {
    const client = new SmtpClient(sink.config.port);
    client.write(Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'));
    return client;
  });
  await sleep(400);
  for (const client of clients) client[Symbol.dispose]();
  using endless = new SmtpClient(sink.config.port);
  await endless.greet();
  endless.write('X'.repeat(1 << 20));
  await gone([endless]);
  await assertServes(sink);
});

test('refuses addresses that are none and too many recipients', async () => {
  await using sink = await TestMailSink.start({ recipients: 3 });
  using client = new SmtpClient(sink.config.port);
  await client.greet();
  await client.say('MAIL FROM:<from@example.test>');
  for (const address of ['<>', '<a\r>', '<a@b\0.test>', '<a@b.test', 'a@b.test', '<<a@b.test>>', '<../../x>']) {
    assert.match(await client.say(`RCPT TO:${address}`), /^5/, address);
  }
  for (const i of [1, 2, 3]) assert.match(await client.say(`RCPT TO:<${i}@example.test>`), /^250/);
  assert.match(await client.say('RCPT TO:<4@example.test>'), /^452/);
  await assertServes(sink);
});

test('bounds how many connections there are and how long one lives, and serves others meanwhile', async () => {
  await using sink = await TestMailSink.start({ connections: 8, lifeMs: 1_200, silenceMs: 1_000 });
  const crowd = Array.from({ length: 60 }, () => new SmtpClient(sink.config.port));
  await all(crowd, ({ heard, closed }) => heard !== '' || closed);
  const greeted = crowd.filter(({ heard }) => heard.startsWith('220'));
  assert.is(greeted.length, 8);
  assert.ok(crowd.some(({ heard }) => heard.startsWith('421')));
  // Silent for never long enough to be cut off for that.
  const drip = setInterval(() => {
    for (const client of greeted) client.write('N');
  }, 100);
  await gone(crowd);
  clearInterval(drip);
  await assertServes(sink);
});

test('listens on loopback alone, says when its port is taken, and closes while clients hang on', async () => {
  await using sink = await TestMailSink.start();
  const taken = { directory: sink.directory, port: sink.config.port, onMail: () => {} };
  await startMailSink(taken).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, 'EADDRINUSE'),
  );
  for (const host of ['127.0.0.2', '::1']) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect(sink.config.port, host, () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    assert.not(reached, host);
  }
  const hanging = Array.from({ length: 3 }, () => new SmtpClient(sink.config.port));
  await Promise.all(hanging.map((client) => client.greet()));
  const started = performance.now();
  await sink[Symbol.asyncDispose]();
  await gone(hanging);
  assert.ok(performance.now() - started < 5_000);
});

async function assertServes(sink: TestMailSink): Promise<void> {
  await using mailer = createMailer(sink.config);
  await mailer.send({ to: 'good@example.test', subject: 'still', text: 'served' });
  assert.is((await sink.waitForMail('good@example.test')).text.trimEnd(), 'served');
}

function gone(clients: readonly SmtpClient[]): Promise<void> {
  return all(clients, ({ closed }) => closed);
}

async function all(clients: readonly SmtpClient[], holds: (client: SmtpClient) => boolean): Promise<void> {
  for (const end = performance.now() + 5_000; !clients.every(holds); await sleep(20)) {
    if (performance.now() > end) throw new Error('not within five seconds');
  }
}

test.run();
