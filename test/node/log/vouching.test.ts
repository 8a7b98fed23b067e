import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { type BatchChanges, type ChainBatch, MemberChain } from '../../fixtures/member-chain.ts';
import { until } from '../../fixtures/until.ts';
import { VouchingRoom } from './vouching-room.ts';

const MINUTE_MS = 60_000;
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
  await using room = await VouchingRoom.open(chain);
  const [first, second, third] = await seal(chain, 3);
  assert.ok(first && second && third);
  await room.hold(first);
  await room.hold(second);
  assert.equal([...room.vouching.vouched()], [], 'nothing is decided');
  room.decide(first);
  await until('the first', () => room.vouched === 1);
  room.decide(second);
  await until('the second', () => room.vouched === 2);
  room.decide(third);
  assert.is(room.vouched, 2, 'the third is not held');
  await room.hold(third);
  await until('the third', () => room.vouched === 3);
  assert.equal([room.stuck, room.told], [null, 3]);
});

test('a decided batch that is not held is waited for since its decision, and closes no chain', async () => {
  const chain = await MemberChain.create();
  await using room = await VouchingRoom.open(chain);
  const [first, second] = await seal(chain, 2);
  assert.ok(first && second);
  room.decide(first);
  room.decide(second);
  await until('it to be missed', () => room.vouching.lacking.length === 1);
  const [lacked] = room.vouching.lacking;
  assert.equal([lacked?.node, lacked?.batch, room.vouching.closed], [chain.node, 1, []]);
  assert.is(typeof lacked?.since, 'string');
  await room.hold(first);
  await until('the next to be missed', () => room.vouching.lacking[0]?.batch === 2);
  await room.hold(second);
  await until('both', () => room.vouched === 2);
  assert.equal(room.vouching.lacking, []);
});

test('what is decided just as the loop ends is derived too', async () => {
  const chain = await MemberChain.create();
  const [first, second] = await seal(chain, 2);
  assert.ok(first && second);
  for (let ticks = 0; ticks < TICKS; ticks++) {
    await using room = await VouchingRoom.open(chain);
    for (const batch of [first, second]) await room.hold(batch);
    room.onVouched = () => {
      room.onVouched = () => undefined;
      void afterTicks(ticks).then(() => room.decide(second));
    };
    room.decide(first);
    await until(`both, ${ticks} ticks later`, () => room.vouched === 2);
  }
});

test('after a crash a member goes on from the last batch that it derived', async () => {
  const chain = await MemberChain.create();
  let isBroken = false;
  await using room = await VouchingRoom.open(chain, {
    gate: async ({ operations, sync }) => {
      if (isBroken && operations.some(({ key }) => key.startsWith('chain-state/'))) throw new Error('the disk refused');
      await sync();
    },
  });
  const batches = await seal(chain, 4);
  for (const batch of batches.slice(0, 2)) await room.holdAndDecide(batch);
  await until('two', () => room.vouched === 2);
  isBroken = true;
  for (const batch of batches.slice(2)) await room.holdAndDecide(batch);
  await room.restart();
  assert.is(room.vouched, 2, 'what did not reach the disk is not vouched for');
  isBroken = false;
  await room.restart();
  await until('all four', () => room.vouched === 4);
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
];

for (const [what, code, changes] of BROKEN) {
  test(`a batch with a record that ${what} is vouched for by nobody, nor is any after it`, async () => {
    const chain = await MemberChain.create();
    await using room = await VouchingRoom.open(chain);
    const [sound] = await seal(chain, 1);
    assert.ok(sound);
    await room.holdAndDecide(sound);
    const broken = await chain.seal([[{}]], changes);
    chain.append(broken);
    await room.holdAndDecide(broken);
    const [after] = await seal(chain, 1);
    assert.ok(after);
    await room.holdAndDecide(after);
    await until('it is refused', () => room.stuck !== null);
    assert.equal([room.vouched, room.stuck], [1, [2, code]]);
    assert.equal(room.vouching.closed, [chain.node]);
    await room.restart();
    await until('it is refused again', () => room.stuck !== null);
    assert.equal([room.vouched, room.stuck], [1, [2, code]]);
  });
}

test('a batch that begins long before the ledger showed the one before is not vouched for', async () => {
  const chain = await MemberChain.create();
  await using room = await VouchingRoom.open(chain);
  const [first] = await seal(chain, 1);
  assert.ok(first);
  await room.holdAndDecide(first);
  const from = shifted(chain.state.since, -6 * MINUTE_MS);
  await room.holdAndDecide(await chain.seal([[{}]], { envelope: { from } }));
  await until('it is refused', () => room.stuck !== null);
  assert.equal([room.vouched, room.stuck], [1, [2, 'from-too-early']]);
});

test('a batch by a key of which no certificate is known waits for it', async () => {
  const chain = await MemberChain.create();
  await using room = await VouchingRoom.open(chain, { certified: false });
  const [first] = await seal(chain, 1);
  assert.ok(first);
  await room.holdAndDecide(first);
  await until('it is refused', () => room.stuck !== null);
  assert.equal([room.vouched, room.stuck], [0, [1, 'key-not-certified']]);
  room.certify();
  await until('it is vouched for', () => room.vouched === 1);
  assert.is(room.stuck, null);
});

test('a batch that is held where the log decided another is not vouched for, and is told', async () => {
  const chain = await MemberChain.create();
  await using room = await VouchingRoom.open(chain);
  const [held, decided] = [await chain.seal([[{}]]), await chain.seal([[{}, {}]])];
  await room.hold(held);
  room.decide(decided);
  await until('it is refused', () => room.stuck !== null);
  assert.equal([room.vouched, room.stuck, room.rivals], [0, [1, 'envelope-not-decided'], [1]]);
  assert.equal(room.vouching.closed, [], 'another member may hold the one that was decided');
});

test.run();
