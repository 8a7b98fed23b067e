import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { groupTable } from '../../../node/records/record-tables.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';
import { codeOf, countingSigner, draftOf, IntakeFixture, NODE, temporaryDirectory } from './intake-fixture.ts';

/** A group that is under way when the node is halted at one step of it: how its caller fares, and what was signed. */
async function haltedAt(step: 'before the signature' | 'after the signature') {
  await using directory = await temporaryDirectory();
  const counting = countingSigner();
  let halt = (): void => {};
  const key: Signer = {
    ...counting,
    async sign(message, context) {
      const signature = await counting.sign(message, context);
      if (step === 'after the signature') halt();
      return signature;
    },
  };
  let draws = 0;
  // The time of a group is taken just before its records get their places.
  const now = (): number => {
    if (step === 'before the signature' && ++draws > 1) halt();
    return Date.now();
  };
  await using fixture = await IntakeFixture.open(directory.path, { signer: key, now });
  halt = () => fixture.intake.halt();
  const code = await codeOf(fixture.intake.submit(draftOf('s')));
  const groups = await Array.fromAsync(groupTable.under(fixture.store, [NODE]));
  const { committed, intake } = fixture;
  const { signed } = counting;
  return { code, signed, stored: groups.length, told: committed.length, failing: intake.signerFailing };
}

test('a group that is under way when the node is halted is not signed any more', async () => {
  const none = { code: 'halted', signed: 0, stored: 0, told: 0, failing: false };
  assert.equal(await haltedAt('before the signature'), none);
});

test('a group whose signature was under way when the node was halted is not written, and its caller is refused', async () => {
  const none = { code: 'halted', signed: 1, stored: 0, told: 0, failing: false };
  assert.equal(await haltedAt('after the signature'), none);
});

test.run();
