import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readBatch } from '../../../../node/records/batch-tables.ts';
import { groupTable } from '../../../../node/records/record-tables.ts';
import type { Store } from '../../../../node/store/store.ts';
import { groupStatement } from '../../../../protocol/statement/group.ts';
import type { Signer } from '../../../../protocol/suite/suite.ts';
import { countingSigner, NODE, signer, temporaryDirectory } from '../intake-fixture.ts';
import { AnewFixture, type AnewOptions, other } from './anew-fixture.ts';
import { requireChain, SealingFixture } from './sealing-fixture.ts';

/** A home with so many groups, and nothing sealed. */
async function recorded(directory: string, groups: number): Promise<void> {
  await using fixture = await SealingFixture.open(directory);
  for (let i = 0; i < groups; i++) await fixture.record(1);
}

/** The key, which calls `onSigned` after each signature. */
function telling(key: Signer, onSigned: () => void): Signer {
  return {
    ...key,
    async sign(message, context) {
      const signature = await key.sign(message, context);
      onSigned();
      return signature;
    },
  };
}

/** How many groups are by the key that took the place of the first. */
async function signedAnew(store: Store): Promise<number> {
  const groups = await Array.fromAsync(groupTable.under(store, [NODE]));
  return groups.filter(([, { statement }]) => groupStatement.parse(statement).keyId === other.keyId).length;
}

test('a batch that is walked when the node is halted is not signed', async () => {
  await using directory = await temporaryDirectory();
  await recorded(directory.path, 3);
  const counting = countingSigner();
  let halt = (): void => {};
  await using fixture = await SealingFixture.open(directory.path, {
    signer: () => counting,
    publicKeyOf() {
      halt();
      return signer.publicKey;
    },
  });
  halt = () => fixture.sealer.halt();
  await fixture.sealer.seal();
  assert.equal([counting.signed, await requireChain(fixture.store), fixture.sealed], [0, [], []]);
});

test('an envelope whose signature was under way when the node was halted is not written, and nobody is told', async () => {
  await using directory = await temporaryDirectory();
  await recorded(directory.path, 1);
  let halt = (): void => {};
  await using fixture = await SealingFixture.open(directory.path, { signer: () => telling(signer, () => halt()) });
  halt = () => fixture.sealer.halt();
  await fixture.sealer.seal();
  assert.equal([await requireChain(fixture.store), fixture.sealed], [[], []]);
  assert.is(fixture.sealer.waiting, 1, 'the records stay for the next start');
});

test('what was recorded is sealed where the node may only record nothing more', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  await fixture.record(2);
  fixture.intake.halt();
  await fixture.sealer.seal();
  assert.equal(
    (await requireChain(fixture.store)).map(({ size }) => size),
    [2],
  );
});

/** A batch of three groups by a key that is revoked now, and a halt while it is signed anew. */
async function haltedAnew(options: (halt: () => void) => AnewOptions) {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await SealingFixture.open(directory.path);
    for (let i = 0; i < 3; i++) await fixture.record(1);
    await fixture.sealer.seal();
  }
  let halt = (): void => {};
  await using fixture = await AnewFixture.open(
    directory.path,
    options(() => halt()),
  );
  halt = () => fixture.sealer.halt();
  fixture.sealer.start();
  await fixture.sealer.signAnew();
  const batch = await readBatch(fixture.store, NODE, 1);
  return { isOld: batch?.envelope.keyId === signer.keyId, anew: await signedAnew(fixture.store), steps: fixture.steps };
}

test('groups that are signed anew when the node is halted are signed no further, and none is written', async () => {
  let signed = 0;
  const outcome = await haltedAnew((halt) => ({ signing: telling(other, () => void (++signed === 2 && halt())) }));
  assert.equal(outcome, { isOld: true, anew: 0, steps: ['resume'] });
  assert.is(signed, 2);
});

test('envelopes that are signed anew when the node is halted stay as they were', async () => {
  const outcome = await haltedAnew((onWithdrawn) => ({ onWithdrawn }));
  assert.equal(outcome, { isOld: true, anew: 3, steps: ['withdraw 1', 'resume'] });
});

test.run();
