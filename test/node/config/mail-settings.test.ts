import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { MailConfig } from '../../../node/accounts/mail/mailer.ts';
import type { Environment } from '../../../node/config/environment.ts';
import { ConfigError } from '../../../node/config/read-variable.ts';
import { configWith } from './settings.ts';

const SMTP: Environment = { SMTP_HOST: 'mail.example.test', SMTP_FROM: 'no-reply@example.test' };

test('a node without a mail server sends no mail', () => {
  assert.is(mailOf({}), null);
});

test('asks for STARTTLS unless told otherwise, on the port of the protection', () => {
  const mail = { host: 'mail.example.test', port: 587, tls: 'starttls', login: null, from: 'no-reply@example.test' };
  assert.equal(mailOf(SMTP), mail);
  assert.equal(mailOf({ ...SMTP, SMTP_TLS: 'implicit' }), { ...mail, tls: 'implicit', port: 465 });
  assert.equal(mailOf({ ...SMTP, SMTP_HOST: '127.0.0.1', SMTP_TLS: 'none' }), {
    ...mail,
    host: '127.0.0.1',
    tls: 'none',
    port: 25,
  });
  assert.equal(mailOf({ ...SMTP, SMTP_PORT: '2525', SMTP_USER: 'u', SMTP_PASSWORD: 'p' }), {
    ...mail,
    port: 2525,
    login: { user: 'u', password: 'p' },
  });
});

test('refuses what is half set or unprotected, and names the variable, never the password', () => {
  const cases: readonly [fault: string, environment: Environment][] = [
    ['SMTP_FROM', { SMTP_HOST: 'mail.example.test' }],
    ['SMTP_FROM', { ...SMTP, SMTP_FROM: 'Meridian <no-reply@example.test>' }],
    ['SMTP_PASSWORD', { ...SMTP, SMTP_USER: 'u' }],
    ['SMTP_USER', { ...SMTP, SMTP_PASSWORD: 'hunter2' }],
    ['SMTP_PASSWORD needs SMTP_HOST', { SMTP_PASSWORD: 'hunter2' }],
    ['SMTP_TLS', { ...SMTP, SMTP_TLS: 'none' }],
    ['SMTP_TLS', { ...SMTP, SMTP_TLS: 'maybe' }],
    ['SMTP_PORT', { ...SMTP, SMTP_PORT: 'smtp' }],
  ];
  for (const [fault, environment] of cases) {
    try {
      mailOf(environment);
      assert.unreachable(fault);
    } catch (error) {
      assert.instance(error, ConfigError);
      assert.match(String(error), fault);
      assert.not.match(String(error), 'hunter2');
    }
  }
});

function mailOf(environment: Environment): MailConfig | null {
  return configWith(environment).mail;
}

test.run();
