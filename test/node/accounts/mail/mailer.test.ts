import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createMailer,
  type Mail,
  MAIL_LIMITS,
  type MailConfig,
  MailError,
  type MailErrorCode,
  type MailLimits,
} from '../../../../node/accounts/mail/mailer.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { fc } from '../../../fixtures/properties.ts';
import { reply, startStrictServer } from './strict-server.ts';

const HURRIED: MailLimits = { dnsMs: 300, connectMs: 300, greetingMs: 300, silenceMs: 300, wholeMs: 400 };
const sink = await TestMailSink.start();

test.after(() => sink[Symbol.asyncDispose]());

test('delivers a mail as it was written', async () => {
  await using mailer = createMailer(sink.config);
  const text = `Dear Søren,\n\n.\n..\nyour key is ${'k'.repeat(300)}\nFrom here on it is yours. 鍵\n\n\ttabbed`;
  const subject = `Your key – 鍵${', and more than one line can hold'.repeat(4)}`;
  await mailer.send({ to: 'soren@example.test', subject, text });
  const mail = await sink.waitForMail('soren@example.test');
  assert.is(mail.subject, subject);
  assert.is(mail.text.trimEnd(), text);
  assert.match(mail.headers.get('from') ?? '', 'no-reply@meridian.test');
  assert.is(mail.headers.get('to'), 'soren@example.test');
  assert.is(mail.headers.get('auto-submitted'), 'auto-generated');
  assert.match(mail.headers.get('content-type') ?? '', /^text\/plain; charset=utf-8/);
});

test('delivers many mails at once, each to its own address alone and unchanged', async () => {
  await using mailer = createMailer(sink.config);
  const line = fc
    .string({ unit: 'grapheme', maxLength: 120 })
    .map((text) => text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' '));
  const written = fc.sample(fc.record({ subject: line, lines: fc.array(line, { maxLength: 5 }) }), 40);
  await Promise.all(
    written.map(({ subject, lines }, i) =>
      mailer.send({
        to: `many-${i}@example.test`,
        subject: subject.slice(0, 190).toWellFormed(),
        text: `|${lines.join('\n')}|`,
      }),
    ),
  );
  for (const [i, { subject, lines }] of written.entries()) {
    const mail = await sink.waitForMail(`many-${i}@example.test`);
    const spaces = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();
    assert.is(spaces(mail.subject), spaces(subject.slice(0, 190).toWellFormed()));
    assert.is(mail.text.trimEnd(), `|${lines.join('\n')}|`);
  }
  assert.equal(
    sink.kept.filter(({ to }) => to.length !== 1),
    [],
  );
});

test('refuses whatever could end a header or a command early, before any server hears of it', async () => {
  await using server = await startStrictServer();
  await using mailer = createMailer({ ...sink.config, port: server.port });
  const good: Mail = { to: 'a@example.test', subject: 'subject', text: 'text' };
  const addresses = [
    'a@b.test\r\nBcc: c@d.test',
    'a@b.test\n',
    'a@b.test, c@d.test',
    '<a@b.test>',
    'A <a@b.test>',
    'a@b@c.test',
    'a b@c.test',
    'a@b.test SIZE=1',
    '',
  ];
  const subjects = ['s\r\nBcc: c@d.test', 's\n', 's\r', 's\0', 's\u2028t', 's\u0085t', '\uD800', 's'.repeat(201)];
  const texts = ['t\0', 't\r\n.\r\nMAIL FROM:<x@y.test>', '\u001b[2J', '\uDC00', 't'.repeat(65_537)];
  for (const to of addresses) await assertFails(mailer.send({ ...good, to }), 'refused', to);
  for (const subject of subjects) await assertFails(mailer.send({ ...good, subject }), 'refused', subject);
  for (const text of texts) await assertFails(mailer.send({ ...good, text }), 'refused', text.slice(0, 20));
  assert.equal(server.mails, []);
});

test('tells a mail that is refused for good from a server that cannot be used now', async () => {
  const cases: readonly [answer: 'onMailFrom' | 'onRcptTo' | 'onData', code: number, expected: MailErrorCode][] = [
    ['onRcptTo', 550, 'refused'],
    ['onData', 554, 'refused'],
    ['onRcptTo', 450, 'unreachable'],
    ['onData', 452, 'unreachable'],
    ['onMailFrom', 550, 'unreachable'],
    ['onRcptTo', 530, 'unreachable'],
  ];
  for (const [handler, code, expected] of cases) {
    await using server = await startStrictServer({
      [handler]: (_what: unknown, _session: unknown, callback: (error: Error) => void) =>
        callback(reply(code, 'secret words of the server about a@example.test')),
    });
    await using mailer = createMailer({ ...sink.config, port: server.port });
    const error = await assertFails(mailer.send(mailTo('a@example.test')), expected, `${handler} ${code}`);
    assert.is(error.reply, code);
    assert.not.match(inspect(error, { depth: null, showHidden: true }), /secret words|a@example/);
  }
});

test('says that a dead, a silent and a babbling server cannot be reached, in time', async () => {
  const dead = await startStrictServer();
  await dead[Symbol.asyncDispose]();
  await using refusing = createMailer({ ...sink.config, port: dead.port });
  await assertFails(refusing.send(mailTo('a@example.test')), 'unreachable', 'dead');
  for (const chatter of ['', 'HTTP/1.1 400 Bad Request\r\n\r\n', `${'220-'.padEnd(70_000, 'x')}\r\n`.repeat(2)]) {
    await using server = await startTalker(chatter);
    await using mailer = createMailer({ ...sink.config, port: server.port }, HURRIED);
    const started = performance.now();
    await assertFails(mailer.send(mailTo('a@example.test')), 'unreachable', chatter.slice(0, 20));
    assert.ok(performance.now() - started < 5_000);
  }
});

test('gives up a mail that is not taken in time, that its caller gives up, or when it is disposed', async () => {
  await using server = await startStrictServer({ onData: () => {} });
  const config = { ...sink.config, port: server.port };
  await using slow = createMailer(config, { ...MAIL_LIMITS, wholeMs: 400 });
  await assertFails(slow.send(mailTo('a@example.test')), 'unreachable', 'too slow');

  const mailer = createMailer(config);
  const reason = new Error('the caller left');
  const sent = mailer.send(mailTo('a@example.test'), AbortSignal.timeout(250)).catch((error: unknown) => error);
  const left = await mailer.send(mailTo('a@example.test'), AbortSignal.abort(reason)).catch((error: unknown) => error);
  assert.is(left, reason);
  assert.is(Object(await sent).name, 'TimeoutError');

  const underWay = Array.from({ length: 6 }, () =>
    mailer.send(mailTo('a@example.test')).catch((error: unknown) => error),
  );
  await sleep(200);
  await mailer[Symbol.asyncDispose]();
  for (const error of await Promise.all(underWay)) assert.match(String(error), 'the mailer is closed');
  await assertFails(mailer.send(mailTo('a@example.test')), 'unreachable', 'disposed');
});

function mailTo(to: string): Mail {
  return { to, subject: 'subject', text: 'text' };
}

async function assertFails(sending: Promise<void>, code: MailErrorCode, about: string): Promise<MailError> {
  const error: unknown = await sending.then(
    () => new Error('it was sent'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MailError)) throw new Error(`${about}: ${String(error)}`);
  assert.is(error.code, code, `${about}: ${error.message}`);
  return error;
}

/** Says the same to everyone who connects and listens to nobody. */
async function startTalker(chatter: string): Promise<AsyncDisposable & Pick<MailConfig, 'port'>> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).write(chatter);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.run();
