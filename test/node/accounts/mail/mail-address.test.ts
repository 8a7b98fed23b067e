import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isMailAddress } from '../../../../node/accounts/mail/mail-address.ts';
import { createMailer } from '../../../../node/accounts/mail/mailer.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { fc } from '../../../fixtures/properties.ts';

const LONGEST_DOMAIN = `${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(61)}`;
const GOOD = [
  'a@b.test',
  'a@localhost',
  "o'brien+meridian@mail.example.co.uk",
  'First.Last@xn--bcher-kva.example',
  '!#$%&*/=?^_`{|}~-@b.test',
  `${'l'.repeat(64)}@${LONGEST_DOMAIN}`,
];

test('accepts addresses as people write them, up to their greatest length', () => {
  for (const address of GOOD) assert.ok(isMailAddress(address), address);
});

test('accepts no other form, and nothing too long', () => {
  for (const address of [
    '',
    '@',
    'a@',
    '@b.test',
    'a',
    '.a@b.test',
    'a.@b.test',
    'a..a@b.test',
    'a@b..test',
    'a@.test',
    'a@b.test.',
    'a@-b.test',
    'a@b-.test',
    'a@b_c.test',
    'a@127.0.0.1',
    'a@[127.0.0.1]',
    '"a b"@c.test',
    'a(comment)@b.test',
    'søren@b.test',
    'a@bücher.test',
    'a@b.test\n',
    '\ta@b.test',
    `${'l'.repeat(65)}@b.test`,
    `a@${'d'.repeat(64)}.test`,
    `${'l'.repeat(64)}@${LONGEST_DOMAIN}d`,
  ]) {
    assert.not(isMailAddress(address), JSON.stringify(address));
  }
});

test('accepts no text that could end a header line or an SMTP command', () => {
  const hostile = fc
    .tuple(fc.emailAddress(), fc.nat(60), fc.constantFrom(...'\r\n\0\t <>,;:"()[]\\\u0085\u2028é'))
    .map(([address, at, character]) => address.slice(0, at) + character + address.slice(at));
  fc.assert(fc.property(hostile, (text) => !isMailAddress(text)));
});

test('delivers to every address that it accepts, and to no other', async () => {
  await using sink = await TestMailSink.start();
  await using mailer = createMailer(sink.config);
  const addresses = [...GOOD, ...fc.sample(fc.emailAddress(), 40)];
  await Promise.all(
    addresses.map(async (to) => {
      assert.ok(isMailAddress(to), to);
      await mailer.send({ to, subject: 'subject', text: to });
    }),
  );
  // A domain is the same in capitals; a local part need not be.
  const localParts = (all: readonly string[]): string[] => all.map((to) => to.slice(0, to.lastIndexOf('@'))).sort();
  const lowered = (all: readonly string[]): string[] => all.map((to) => to.toLowerCase()).sort();
  const delivered = sink.kept.flatMap((mail) => mail.to);
  assert.equal(localParts(delivered), localParts(addresses));
  assert.equal(lowered(delivered), lowered(addresses));
});

test.run();
