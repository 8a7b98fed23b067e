import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { certificatePdf } from '../../../node/certificates/certificate-page.ts';
import { CertificateError, CertificateThread } from '../../../node/certificates/certificate-thread.ts';
import { BusyError } from '../../../node/concurrency/semaphore.ts';
import { EXAMPLE_FACTS, EXAMPLE_PROOF } from './example-facts.ts';

/** More than may wait. */
const TOO_MANY = 80;

test('a thread makes the bytes that are made in place', async () => {
  await using thread = new CertificateThread();
  const made = await Promise.all([1, 2].map(() => thread.make(EXAMPLE_FACTS, EXAMPLE_PROOF)));
  const expected = await certificatePdf(EXAMPLE_FACTS, EXAMPLE_PROOF);
  for (const pdf of made) assert.ok(Buffer.from(pdf).equals(expected));
});

test('a certificate that cannot be made fails alone', async () => {
  await using thread = new CertificateThread();
  const tooLong = { ...EXAMPLE_FACTS, pageUrl: 'w'.repeat(4_000) };
  const [failed, made] = await Promise.allSettled([
    thread.make(tooLong, EXAMPLE_PROOF),
    thread.make(EXAMPLE_FACTS, EXAMPLE_PROOF),
  ]);
  assert.is(failed.status, 'rejected');
  assert.is(made.status, 'fulfilled');
});

test('past a bound nobody waits, and a node that stops makes none', async () => {
  const thread = new CertificateThread();
  const asked = Array.from({ length: TOO_MANY }, () => thread.make(EXAMPLE_FACTS, EXAMPLE_PROOF));
  const ended = Promise.allSettled(asked);
  await thread[Symbol.asyncDispose]();
  const reasons = (await ended).map((each) => (each.status === 'rejected' ? each.reason : null));
  assert.ok(reasons.some((reason) => reason instanceof BusyError));
  assert.ok(reasons.some((reason) => reason instanceof CertificateError));
  assert.ok(reasons.every((reason) => reason instanceof BusyError || reason instanceof CertificateError));
});

test.run();
