import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SignUpLimits } from '../../../../node/accounts/sign-up/sign-up-limits.ts';
import {
  ADDRESS_ALLOWANCE,
  ADDRESS_PERMANENT_BYTES_PER_DAY,
  SIGN_IN_ALLOWANCE,
  SIGN_UP_ALLOWANCE,
} from '../../../../node/accounts/limits/allowances.ts';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { SIGN_UP } from '../../../../node/accounts/limits/route-weights.ts';

const HOUR_MS = 3_600_000;
let people = 0;

/** The sign-ups of an address that are let in now, each for another recipient. */
function letIn(limits: SignUpLimits, address: string, most = 10_000): number {
  for (let count = 0; count < most; count++) {
    try {
      limits.admit(address, `recipient ${people++}`);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      assert.equal([error.code, error.holder?.kind], ['rate-limited', 'address']);
      assert.ok(Number(error.headers['Retry-After']) > 0);
      return count;
    }
  }
  return most;
}

test('one address makes so many accounts an hour, and so many a day, however long it goes on', () => {
  let now = 0;
  const limits = new SignUpLimits(() => now);
  const made: number[] = [];
  for (; now < 24 * HOUR_MS; now += HOUR_MS) made.push(letIn(limits, '2001:db8::1'));
  const total = made.reduce((sum, count) => sum + count, 0);
  assert.is(made[0], ADDRESS_ALLOWANCE.signUpsPerHour);
  assert.is(total, ADDRESS_ALLOWANCE.signUpsPerDay);
  assert.is(total * SIGN_UP.permanentBytes, ADDRESS_PERMANENT_BYTES_PER_DAY);
  assert.is(letIn(limits, '2001:db8::2'), ADDRESS_ALLOWANCE.signUpsPerHour, 'the first hour is a day ago');
});

test('a node makes so many accounts a day, from however many addresses', () => {
  let now = 0;
  const limits = new SignUpLimits(() => now);
  let total = 0;
  for (let hour = 0; hour < 24; hour++, now += HOUR_MS) {
    for (let i = 0; i < 200; i++) total += letIn(limits, `192.0.${hour}.${i}`);
  }
  assert.is(total, SIGN_UP_ALLOWANCE.perDay);
});

/** The links that an address has sent to somebody now. */
function links(limits: SignUpLimits, address: string, recipient: string): number {
  for (let count = 0; ; count++) {
    try {
      limits.admitSignIn(address, recipient);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      return count;
    }
  }
}

test('whoever asks for another’s links, or has mails sent, keeps them from signing in from nowhere else', () => {
  let now = 0;
  const limits = new SignUpLimits(() => now);
  const { perRecipientAndDay, toOneRecipientAndHour, perAddressAndHour } = SIGN_IN_ALLOWANCE;
  for (let i = 0; i < 10; i++) letIn(limits, `192.0.2.${i}`);
  assert.is(links(limits, '192.0.2.1', 'ada'), toOneRecipientAndHour);
  assert.is(links(limits, '192.0.2.2', 'ada'), toOneRecipientAndHour, 'from elsewhere');
  assert.is(links(limits, '192.0.2.1', 'grace'), toOneRecipientAndHour, 'somebody else');
  for (let i = 3; i < 20; i++) links(limits, `192.0.2.${i}`, 'ada');
  assert.is(links(limits, '192.0.2.99', 'ada'), 0, 'nobody is flooded');
  now += 24 * HOUR_MS;
  assert.is(links(limits, '192.0.2.99', 'ada'), toOneRecipientAndHour);
  let all = toOneRecipientAndHour;
  for (let i = 0; i < 10; i++) all += links(limits, '192.0.2.99', `recipient ${i}`);
  assert.is(all, perAddressAndHour);
  assert.ok(perRecipientAndDay > toOneRecipientAndHour);
});

test.run();
