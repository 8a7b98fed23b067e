import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalSource } from '../../../../protocol/accounts/refused-key.ts';
import type { StatedKey } from '../../../../protocol/accounts/statement.ts';
import { TIERS } from '../../../../protocol/accounts/tier.ts';
import type { NodeId } from '../../../../protocol/ids.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { until } from '../../../fixtures/until.ts';
import { ADA, ElsewhereRoom, EU, SG, statedKey, statement, textOf, US } from './elsewhere-room.ts';

const test = suite('statements of accounts of other nodes');

const [FIRST, SECOND] = [statedKey('a'), statedKey('b')];
const [A, B] = [textOf('a'), textOf('b')];

/** Waits until a key is worth this. */
function worth(room: ElsewhereRoom, apiKey: string, word: Awaited<ReturnType<ElsewhereRoom['word']>>): Promise<void> {
  return until(`the key to be ${word}`, async () => (await room.word(apiKey)) === word);
}

test('a key is in force once the version that states it is held and decided, and not before', async () => {
  await using room = await ElsewhereRoom.open();
  const batch = await room.version(statement(1, [FIRST]));
  await room.hold(batch);
  await until('the statement', async () => (await room.held()).length === 1);
  assert.is(await room.word(A), 'unknown');
  assert.is(await room.wanted(), 1);
  room.decide(batch);
  assert.is(await room.word(A), 'valid');
  const found = await room.key(A);
  assert.equal(found !== undefined && found !== 'ended' && found.foreign.account, { id: ADA, tier: 'standard' });
  await until('nothing to be wanted', async () => (await room.wanted()) === 0);
  assert.equal(room.asked.map(([, member]) => member), [EU], 'the home alone is asked');
});

test('a key that a newer version leaves out ends before that is decided; one that it adds waits for it', async () => {
  await using room = await ElsewhereRoom.open();
  await room.take(statement(1, [FIRST]));
  await worth(room, A, 'valid');
  const { changes } = room;
  const second = await room.version(statement(2, [SECOND]));
  await room.hold(second);
  await worth(room, A, 'ended');
  assert.ok(room.changes > changes, 'what was remembered of keys is read anew');
  assert.equal(await room.held(), [1, 2]);
  assert.is(await room.word(B), 'unknown');
  room.decide(second);
  await worth(room, B, 'valid');
  await until('the older one to be gone', async () => (await room.held()).join() === '2');
  assert.is(await room.word(A), 'unknown');
});

test('a version that does not name this node ends its keys as its record arrives, and nobody is asked for it', async () => {
  await using room = await ElsewhereRoom.open();
  await room.take(statement(1, [FIRST]));
  await worth(room, A, 'valid');
  room.asked.length = 0;
  const second = await room.version(statement(2, [FIRST], { nodes: [EU, SG] }));
  await room.hold(second);
  assert.is(await room.word(A), 'unknown');
  assert.equal(await room.held(), [1], 'it is kept while a fork may undo the newer one');
  room.decide(second);
  await until('nothing of it to be held', async () => (await room.held()).length === 0);
  await until('nothing to be wanted', async () => (await room.wanted()) === 0);
  assert.equal(room.asked, []);
  assert.equal(room.store.all().filter(([key]) => key.startsWith('foreign-key/')), []);
});

test('a version that the log decided another batch in the place of gives no key', async () => {
  await using room = await ElsewhereRoom.open();
  await room.take(statement(1, [FIRST]));
  await worth(room, A, 'valid');
  const second = await room.version(statement(2, [FIRST, SECOND]));
  await room.hold(second);
  room.decide(second, FIRST.hash);
  await until('the payload', async () => (await room.held()).length === 2);
  assert.is(await room.word(B), 'unknown');
  assert.is(await room.word(A), 'valid', 'the last that was decided stands');
});

test('a record of kind `account` by another node than the home counts for nothing', async () => {
  await using room = await ElsewhereRoom.open();
  const forged = await room.version(statement(1, [FIRST]), { node: SG });
  await room.hold(forged);
  room.decide(forged);
  await room.take(statement(1, [SECOND], { account: 'acc_eu_bob' }));
  await worth(room, B, 'valid');
  assert.is(await room.word(A), 'unknown');
  assert.equal(await room.held(), []);
  // Nor a statement of an account that lives here.
  const ours = await room.version(statement(1, [FIRST], { account: 'acc_us_ada' }), { node: EU });
  await room.hold(ours);
  room.decide(ours);
  await room.take(statement(1, [statedKey('c')], { account: 'acc_eu_eve' }));
  await worth(room, textOf('c'), 'valid');
  assert.is(await room.word(A), 'unknown');
});

test('a payload that is not the one that the home signed is refused, and the next member is asked', async () => {
  await using room = await ElsewhereRoom.open();
  const old = await room.take(statement(1, [FIRST]));
  await worth(room, A, 'valid');
  const [replayed] = old.records.map(({ record }) => room.payloads.get(record.id));
  room.answer = (id, member) => {
    const right = room.payloads.get(id);
    if (member === SG || right === undefined) return right;
    return replayed;
  };
  await room.take(statement(2, [SECOND]));
  await worth(room, B, 'valid');
  assert.equal(room.forged, [EU]);
  room.answer = (id, member) => {
    const right = room.payloads.get(id);
    return right && member === EU ? { ...right, text: canonicalize({ ...JSON.parse(right.text), tier: 'unmetered' }) } : right;
  };
  await room.take(statement(3, [FIRST]));
  await worth(room, A, 'valid');
  assert.equal(room.forged, [EU, EU]);
});

test('a statement that does not say what its record claims, or is none, ends the keys that were stated before', async () => {
  await using room = await ElsewhereRoom.open();
  const versions = [
    { claims: { nodes: [EU, US], version: 2 } },
    { claims: { nodes: [EU, SG, US].toSorted(), version: 7 } },
    { payload: { no: 'statement' } },
    { payload: { ...statement(2, [FIRST], { account: 'acc_eu_bob' }) } },
    { payload: { ...statement(2, [FIRST], { keys: [FIRST, FIRST] }) } },
  ];
  for (const wrong of versions) {
    await room.take(statement(1, [FIRST]));
    await worth(room, A, 'valid');
    const batch = await room.version(statement(2, [FIRST]), wrong);
    await room.hold(batch);
    await worth(room, A, 'unknown');
    assert.equal(await room.held(), []);
    room.decide(batch);
  }
  assert.is(room.log.filter((line) => line.includes('cannot be gone by')).length, versions.length);
  assert.equal(room.forged, []);
});

test('what nobody gives is asked for again: as a member comes, after a while, and after a restart', async () => {
  await using room = await ElsewhereRoom.open();
  room.connected = [];
  await room.take(statement(1, [FIRST]));
  await until('a look', async () => (await room.wanted()) === 1);
  assert.equal(room.asked, []);
  room.connected = [SG];
  room.follower.noteConnected();
  await worth(room, A, 'valid');
  assert.equal(room.asked.map(([, member]) => member), [SG]);

  room.answer = () => undefined;
  await room.take(statement(2, [SECOND]));
  await until('it to be asked for again', () => room.asked.length > 3);
  assert.is(await room.word(A), 'valid', 'the newest that is held goes on meanwhile');
  await room.restart();
  room.answer = (id) => room.payloads.get(id);
  await worth(room, B, 'valid');
  await until('nothing to be wanted', async () => (await room.wanted()) === 0);
});

test('a home can make this node keep so many accounts and bytes, and no more', async () => {
  await using room = await ElsewhereRoom.open({ accounts: 2, bytes: 1 << 20 });
  for (const name of ['a', 'b', 'c', 'd']) {
    const version = statement(1, [statedKey(name)], { account: `acc_eu_${name}` });
    await room.take(version);
    await until('it to be looked at', async () => (await room.wanted()) === 0);
  }
  assert.equal(await Promise.all(['a', 'b', 'c', 'd'].map((name) => room.word(textOf(name)))), ['valid', 'valid', 'unknown', 'unknown']);
  assert.is(room.log.filter((line) => line.includes('no more are taken')).length, 1);
  await room.restart({ accounts: 2, bytes: 1 << 20 });
  // What is held goes on, and gives room again.
  await room.take(statement(2, [statedKey('e')], { account: 'acc_eu_a' }));
  await worth(room, textOf('e'), 'valid');
  await room.take(statement(3, [], { account: 'acc_eu_a', nodes: [EU] }));
  await until('it to be gone', async () => (await room.held('acc_eu_a')).length === 0);
  await room.take(statement(2, [statedKey('c')], { account: 'acc_eu_c' }));
  await worth(room, textOf('c'), 'valid');
  await using small = await ElsewhereRoom.open({ accounts: 9, bytes: 1_000 });
  await small.take(statement(1, [FIRST]));
  await until('it to be looked at', async () => (await small.wanted()) === 0);
  assert.is(await small.word(A), 'unknown');
});

test('a version of which a home forks is dropped with its record', async () => {
  await using room = await ElsewhereRoom.open();
  const first = await room.take(statement(1, [FIRST]));
  await worth(room, A, 'valid');
  const second = await room.version(statement(2, [SECOND], { nodes: [EU, US] }));
  await room.hold(second);
  await worth(room, A, 'ended');
  await room.drop(second);
  await worth(room, A, 'valid');
  await until('only the first to be held', async () => (await room.held()).join() === '1');
  await until('nothing to be wanted', async () => (await room.wanted()) === 0);
  assert.is(first.envelope.batch, 1);
});

test('a key that two accounts state is neither’s, and does not fall to the second as the first gives it up', async () => {
  await using room = await ElsewhereRoom.open();
  await room.take(statement(1, [FIRST, SECOND]));
  await worth(room, A, 'valid');
  await room.take(statement(1, [FIRST], { account: 'acc_eu_thief' }));
  await worth(room, A, 'unknown');
  assert.is(await room.word(B), 'valid');
  assert.is(room.log.filter((line) => line.includes('state the same API key')).length, 1);
  await room.take(statement(2, [SECOND]));
  await until('the first to give it up', async () => (await room.held()).join() === '2');
  assert.is(await room.word(A), 'unknown');
});

test('a refusal by a node that the account names ends a key, and one by another does not', async () => {
  await using room = await ElsewhereRoom.open();
  await room.take(statement(1, [FIRST, SECOND], { nodes: [EU, US] }));
  await worth(room, A, 'valid');
  const refuse = (node: NodeId, { id }: StatedKey) =>
    room.make(node, { kind: 'account_key_refused', account: ADA, sourceId: refusalSource(id) });
  await room.hold(await refuse(SG, FIRST));
  assert.is(await room.word(A), 'valid');
  const { changes } = room;
  await room.hold(await refuse(EU, SECOND));
  assert.is(await room.word(B), 'refused');
  assert.ok(room.changes > changes, 'what was remembered of keys is read anew');
});

test('the tier is the lower of what the home grants and what the node does', async () => {
  await using room = await ElsewhereRoom.open();
  for (const [i, [granted, given]] of Object.entries({ unmetered: 'professional', developer: 'developer' }).entries()) {
    const tier = TIERS.find((each) => each === granted);
    if (tier !== undefined) await room.take(statement(i + 1, [FIRST], { tier }));
    await until(given, async () => {
      const found = await room.key(A);
      return found !== undefined && found !== 'ended' && found.foreign.account.tier === given;
    });
  }
});

test.run();
