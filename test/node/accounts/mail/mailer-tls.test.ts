import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import type { SMTPServerOptions } from 'smtp-server';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createMailer,
  type Mail,
  type MailConfig,
  MailError,
  type MailTls,
} from '../../../../node/accounts/mail/mailer.ts';
import { certificate, reply, startStrictServer } from './strict-server.ts';

const PASSWORD = 'correct horse battery staple';
const MAIL: Mail = { to: 'a@example.test', subject: 'subject', text: 'text' };
const login = { user: 'meridian', password: PASSWORD };
const trusted = getCACertificates();

/** Takes mail after the right login alone, which it asks for under TLS alone. */
const withLogin: SMTPServerOptions = {
  authOptional: false,
  onAuth: ({ username, password }, _session, callback) => {
    if (username === login.user && password === PASSWORD) return callback(null, { user: username });
    // As an unfriendly server might: the credentials are in the answer, plain and as they were sent.
    const sent = Buffer.from(`\0${username}\0${password}`).toString('base64');
    return callback(reply(535, `no: ${username} ${password} ${sent}`));
  },
};

test.before(async () => setDefaultCACertificates([await certificate()]));
test.after(() => setDefaultCACertificates(trusted));

test('logs in and sends under STARTTLS and under implicit TLS', async () => {
  for (const tls of ['starttls', 'implicit'] as const) {
    await using server = await startStrictServer({ ...withLogin, secure: tls === 'implicit' });
    await using mailer = createMailer(configOf(server.port, tls));
    await mailer.send(MAIL);
    assert.is(server.mails.length, 1);
  }
});

test('sends nothing where the server offers no TLS, or the other kind', async () => {
  const servers: readonly [MailTls, SMTPServerOptions][] = [
    ['starttls', { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }],
    ['implicit', {}],
    ['starttls', { secure: true }],
  ];
  for (const [tls, options] of servers) {
    await using server = await startStrictServer({ ...options, socketTimeout: 500 });
    const error = await failure({ ...configOf(server.port, tls), login: null });
    assert.is(error.code, 'unreachable');
    assert.equal(server.mails, []);
  }
});

test('sends nothing to a server whose certificate is of nobody trusted, or of another name', async () => {
  await using other = await startStrictServer(withLogin, '127.0.0.2');
  assert.match((await failure({ ...configOf(other.port, 'starttls'), host: '127.0.0.2' })).message, /ALTNAME_INVALID/);
  setDefaultCACertificates([]);
  for (const tls of ['starttls', 'implicit'] as const) {
    await using strict = await startStrictServer({ ...withLogin, secure: tls === 'implicit' });
    assert.match((await failure(configOf(strict.port, tls))).message, /SELF_SIGNED_CERT/);
    assert.equal(strict.mails, []);
  }
  setDefaultCACertificates([await certificate()]);
});

test('never shows the credentials when the login is refused, not offered, or repeated by the server', async () => {
  const servers: readonly SMTPServerOptions[] = [withLogin, { disabledCommands: ['AUTH'] }];
  for (const options of servers) {
    await using server = await startStrictServer(options);
    const wrong = { user: login.user, password: `${PASSWORD} wrong` };
    const error = await failure({ ...configOf(server.port, 'starttls'), login: wrong });
    assert.is(error.code, 'unreachable');
    const shown = `${inspect(error, { depth: null, showHidden: true })} ${JSON.stringify(error)}`;
    for (const secret of [PASSWORD, Buffer.from(PASSWORD).toString('base64').slice(0, 20)]) {
      assert.not.match(shown, secret);
    }
    assert.not.match(shown, Buffer.from(`\0meridian\0${PASSWORD}`).toString('base64').slice(0, 30));
    assert.equal(server.mails, []);
  }
});

function configOf(port: number, tls: MailTls): MailConfig {
  return { host: 'localhost', port, tls, login, from: 'no-reply@meridian.test' };
}

async function failure(config: MailConfig): Promise<MailError> {
  await using mailer = createMailer(config);
  const error: unknown = await mailer.send(MAIL).catch((thrown: unknown) => thrown);
  if (!(error instanceof MailError)) throw new Error(`not a MailError: ${String(error)}`);
  return error;
}

test.run();
