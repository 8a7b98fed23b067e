import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { type BatchChanges, type ChainBatch, MemberChain } from '../../fixtures/member-chain.ts';
import { until } from '../../fixtures/until.ts';
import { VouchingFixture } from './vouching-fixture.ts';

const MINUTE_MS = 60_000;
/** In characters. */
const MORE_THAN_A_BODY = (1 << 20) + 1;
/** Turns of the microtask queue from one batch to the end of the loop, and some more. */
const TICKS = 16;

/** A chain's next batches, appended to it. */
async function seal(chain: MemberChain, count: number): Promise<ChainBatch[]> {
  const batches: ChainBatch[] = [];
  for (let i = 0; i < count; i++) {
    const batch = await chain.seal([[{}, { sourceId: 'fraud' }], [{}]]);
    chain.append(batch);
    batches.push(batch);
  }
  return batches;
}

async function afterTicks(ticks: number): Promise<void> {
  for (let i = 0; i < ticks; i++) await undefined;
}

const shifted = (time: string, milliseconds: number) => timestampOf(Date.parse(time) + milliseconds);

test('a batch is vouched for once it is both held and decided, in whichever order', async () => {
  const chain = await MemberChain.create();
  await using fixture = await VouchingFixture.open(chain);
  const [first, second, third] = await seal(chain, 3);
  assert.ok(first && second && third);
  await fixture.hold(first);
  await fixture.hold(second);
  assert.equal([...fixture.vouching.vouched()], [], 'nothing is decided');
  fixture.decide(first);
  await until('the first', () => fixture.vouched === 1);
  fixture.decide(second);
  await until('the second', () => fixture.vouched === 2);
  fixture.decide(third);
  assert.is(fixture.vouched, 2, 'the third is not held');
  await fixture.hold(third);
  await until('the third', () => fixture.vouched === 3);
  assert.equal([fixture.stuck, fixture.told], [null, 3]);
});

test('a decided batch that is not held is waited for since its decision, and closes no chain', async () => {
  const chain = await MemberChain.create();
  await using fixture = await VouchingFixture.open(chain);
  const [first, second] = await seal(chain, 2);
  assert.ok(first && second);
  fixture.decide(first);
  fixture.decide(second);
  await until('it to be missed', () => fixture.vouching.lacking.length === 1);
  const [lacked] = fixture.vouching.lacking;
  assert.equal([lacked?.node, lacked?.batch, fixture.vouching.closed], [chain.node, 1, []]);
  assert.is(typeof lacked?.since, 'string');
  await fixture.hold(first);
  await until('the next to be missed', () => fixture.vouching.lacking[0]?.batch === 2);
  await fixture.hold(second);
  await until('both', () => fixture.vouched === 2);
  assert.equal(fixture.vouching.lacking, []);
});

test('what is decided just as the loop ends is derived too', async () => {
  const chain = await MemberChain.create();
  const [first, second] = await seal(chain, 2);
  assert.ok(first && second);
  for (let ticks = 0; ticks < TICKS; ticks++) {
    await using fixture = await VouchingFixture.open(chain);
    for (const batch of [first, second]) await fixture.hold(batch);
    fixture.onVouched = () => {
      fixture.onVouched = () => undefined;
      void afterTicks(ticks).then(() => fixture.decide(second));
    };
    fixture.decide(first);
    await until(`both, ${ticks} ticks later`, () => fixture.vouched === 2);
  }
});

test('after a crash a member goes on from the last batch that it derived', async () => {
  const chain = await MemberChain.create();
  let isBroken = false;
  await using fixture = await VouchingFixture.open(chain, {
    gate: async ({ operations, sync }) => {
      if (isBroken && operations.some(({ key }) => key.startsWith('chain-state/'))) throw new Error('the disk refused');
      await sync();
    },
  });
  const batches = await seal(chain, 4);
  for (const batch of batches.slice(0, 2)) await fixture.holdAndDecide(batch);
  await until('two', () => fixture.vouched === 2);
  isBroken = true;
  for (const batch of batches.slice(2)) await fixture.holdAndDecide(batch);
  await fixture.restart();
  assert.is(fixture.vouched, 2, 'what did not reach the disk is not vouched for');
  isBroken = false;
  await fixture.restart();
  await until('all four', () => fixture.vouched === 4);
});

const BROKEN: readonly (readonly [what: string, code: string, changes: BatchChanges])[] = [
  ['skips a number of its source', 'source-skipped', { record: ({ sourceSeq }) => ({ sourceSeq: sourceSeq + 1 }) }],
  [
    'invents the record before it',
    'source-prev-mismatch',
    { record: () => ({ sourcePrev: hashText(nativeSuite, 'invented') }) },
  ],
  [
    'is dated before its batch',
    'submitted-outside-batch',
    { record: ({ submittedAt }) => ({ submittedAt: shifted(submittedAt, -60 * MINUTE_MS) }) },
  ],
  [
    'is dated after its batch',
    'submitted-outside-batch',
    { record: ({ submittedAt }) => ({ submittedAt: shifted(submittedAt, 60 * MINUTE_MS) }) },
  ],
  [
    'is longer than any that is read',
    'record-too-long',
    { record: () => ({ sourceId: 'x'.repeat(MORE_THAN_A_BODY) }) },
  ],
];

for (const [what, code, changes] of BROKEN) {
  test(`a batch with a record that ${what} is vouched for by nobody, nor is any after it`, async () => {
    const chain = await MemberChain.create();
    await using fixture = await VouchingFixture.open(chain);
    const [sound] = await seal(chain, 1);
    assert.ok(sound);
    await fixture.holdAndDecide(sound);
    const broken = await chain.seal([[{}]], changes);
    chain.append(broken);
    await fixture.holdAndDecide(broken);
    const [after] = await seal(chain, 1);
    assert.ok(after);
    await fixture.holdAndDecide(after);
    await until('it is refused', () => fixture.stuck !== null);
    assert.equal([fixture.vouched, fixture.stuck], [1, [2, code]]);
    assert.equal(fixture.vouching.closed, [chain.node]);
    await fixture.restart();
    await until('it is refused again', () => fixture.stuck !== null);
    assert.equal([fixture.vouched, fixture.stuck], [1, [2, code]]);
  });
}

test('a batch that begins long before the ledger showed the one before is not vouched for', async () => {
  const chain = await MemberChain.create();
  await using fixture = await VouchingFixture.open(chain);
  const [first] = await seal(chain, 1);
  assert.ok(first);
  await fixture.holdAndDecide(first);
  const from = shifted(chain.state.since, -6 * MINUTE_MS);
  await fixture.holdAndDecide(await chain.seal([[{}]], { envelope: { from } }));
  await until('it is refused', () => fixture.stuck !== null);
  assert.equal([fixture.vouched, fixture.stuck], [1, [2, 'from-too-early']]);
});

test('a batch by a key of which no certificate is known waits for it', async () => {
  const chain = await MemberChain.create();
  await using fixture = await VouchingFixture.open(chain, { certified: false });
  const [first] = await seal(chain, 1);
  assert.ok(first);
  await fixture.holdAndDecide(first);
  await until('it is refused', () => fixture.stuck !== null);
  assert.equal([fixture.vouched, fixture.stuck], [0, [1, 'key-not-certified']]);
  fixture.certify();
  await until('it is vouched for', () => fixture.vouched === 1);
  assert.is(fixture.stuck, null);
});

test('a batch that is held where the log decided another is not vouched for, and is told', async () => {
  const chain = await MemberChain.create();
  await using fixture = await VouchingFixture.open(chain);
  const [held, decided] = [await chain.seal([[{}]]), await chain.seal([[{}, {}]])];
  await fixture.hold(held);
  fixture.decide(decided);
  await until('it is refused', () => fixture.stuck !== null);
  assert.equal([fixture.vouched, fixture.stuck, fixture.rivals], [0, [1, 'envelope-not-decided'], [1]]);
  assert.equal(fixture.vouching.closed, [], 'another member may hold the one that was decided');
});

test.run();
