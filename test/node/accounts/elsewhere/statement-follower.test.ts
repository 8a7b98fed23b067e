import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalSource } from '../../../../protocol/accounts/refused-key.ts';
import type { StatedKey } from '../../../../protocol/accounts/statement.ts';
import { TIERS } from '../../../../protocol/accounts/tier.ts';
import type { NodeId } from '../../../../protocol/ids.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { until } from '../../../fixtures/until.ts';
import { ADA, ElsewhereFixture, EU, SG, statedKey, statement, textOf, US } from './elsewhere-fixture.ts';

const test = suite('statements of accounts of other nodes');

const [FIRST, SECOND] = [statedKey('a'), statedKey('b')];
const [A, B] = [textOf('a'), textOf('b')];

/** Waits until a key is worth this. */
function worth(
  fixture: ElsewhereFixture,
  apiKey: string,
  word: Awaited<ReturnType<ElsewhereFixture['word']>>,
): Promise<void> {
  return until(`the key to be ${word}`, async () => (await fixture.word(apiKey)) === word);
}

test('a key is in force once the version that states it is held and decided, and not before', async () => {
  await using fixture = await ElsewhereFixture.open();
  const batch = await fixture.version(statement(1, [FIRST]));
  await fixture.hold(batch);
  await until('the statement', async () => (await fixture.held()).length === 1);
  assert.is(await fixture.word(A), 'unknown');
  assert.is(await fixture.wanted(), 1);
  fixture.decide(batch);
  assert.is(await fixture.word(A), 'valid');
  const found = await fixture.key(A);
  assert.equal(found !== undefined && found !== 'ended' && found.foreign.account, { id: ADA, tier: 'standard' });
  await until('nothing to be wanted', async () => (await fixture.wanted()) === 0);
  assert.equal(
    fixture.asked.map(([, member]) => member),
    [EU],
    'the home alone is asked',
  );
});

test('a key that a newer version leaves out ends before that is decided; one that it adds waits for it', async () => {
  await using fixture = await ElsewhereFixture.open();
  await fixture.take(statement(1, [FIRST]));
  await worth(fixture, A, 'valid');
  const { changes } = fixture;
  const second = await fixture.version(statement(2, [SECOND]));
  await fixture.hold(second);
  await worth(fixture, A, 'ended');
  assert.ok(fixture.changes > changes, 'what was remembered of keys is read anew');
  assert.equal(await fixture.held(), [1, 2]);
  assert.is(await fixture.word(B), 'unknown');
  fixture.decide(second);
  await worth(fixture, B, 'valid');
  await until('the older one to be gone', async () => (await fixture.held()).join() === '2');
  assert.is(await fixture.word(A), 'unknown');
});

test('a version that does not name this node ends its keys as its record arrives, and nobody is asked for it', async () => {
  await using fixture = await ElsewhereFixture.open();
  await fixture.take(statement(1, [FIRST]));
  await worth(fixture, A, 'valid');
  fixture.asked.length = 0;
  const second = await fixture.version(statement(2, [FIRST], { nodes: [EU, SG] }));
  await fixture.hold(second);
  assert.is(await fixture.word(A), 'unknown');
  assert.equal(await fixture.held(), [1], 'it is kept while a fork may undo the newer one');
  fixture.decide(second);
  await until('nothing of it to be held', async () => (await fixture.held()).length === 0);
  await until('nothing to be wanted', async () => (await fixture.wanted()) === 0);
  assert.equal(fixture.asked, []);
  assert.equal(
    fixture.store.all().filter(([key]) => key.startsWith('foreign-key/')),
    [],
  );
});

test('a version that the log decided another batch in the place of gives no key', async () => {
  await using fixture = await ElsewhereFixture.open();
  await fixture.take(statement(1, [FIRST]));
  await worth(fixture, A, 'valid');
  const second = await fixture.version(statement(2, [FIRST, SECOND]));
  await fixture.hold(second);
  fixture.decide(second, FIRST.hash);
  await until('the payload', async () => (await fixture.held()).length === 2);
  assert.is(await fixture.word(B), 'unknown');
  assert.is(await fixture.word(A), 'valid', 'the last that was decided stands');
});

test('a record of kind `account` by another node than the home counts for nothing', async () => {
  await using fixture = await ElsewhereFixture.open();
  const forged = await fixture.version(statement(1, [FIRST]), { node: SG });
  await fixture.hold(forged);
  fixture.decide(forged);
  await fixture.take(statement(1, [SECOND], { account: 'acc_eu_bob' }));
  await worth(fixture, B, 'valid');
  assert.is(await fixture.word(A), 'unknown');
  assert.equal(await fixture.held(), []);
  // Nor a statement of an account that lives here.
  const ours = await fixture.version(statement(1, [FIRST], { account: 'acc_us_ada' }), { node: EU });
  await fixture.hold(ours);
  fixture.decide(ours);
  await fixture.take(statement(1, [statedKey('c')], { account: 'acc_eu_eve' }));
  await worth(fixture, textOf('c'), 'valid');
  assert.is(await fixture.word(A), 'unknown');
});

test('a payload that is not the one that the home signed is refused, and the next member is asked', async () => {
  await using fixture = await ElsewhereFixture.open();
  const old = await fixture.take(statement(1, [FIRST]));
  await worth(fixture, A, 'valid');
  const [replayed] = old.records.map(({ record }) => fixture.payloads.get(record.id));
  fixture.answer = (id, member) => {
    const right = fixture.payloads.get(id);
    if (member === SG || right === undefined) return right;
    return replayed;
  };
  await fixture.take(statement(2, [SECOND]));
  await worth(fixture, B, 'valid');
  assert.equal(fixture.forged, [EU]);
  fixture.answer = (id, member) => {
    const right = fixture.payloads.get(id);
    return right && member === EU
      ? { ...right, text: canonicalize({ ...JSON.parse(right.text), tier: 'unmetered' }) }
      : right;
  };
  await fixture.take(statement(3, [FIRST]));
  await worth(fixture, A, 'valid');
  assert.equal(fixture.forged, [EU, EU]);
});

test('a statement that does not say what its record claims, or is none, ends the keys that were stated before', async () => {
  await using fixture = await ElsewhereFixture.open();
  const versions = [
    { claims: { nodes: [EU, US], version: 2 } },
    { claims: { nodes: [EU, SG, US].toSorted(), version: 7 } },
    { payload: { no: 'statement' } },
    { payload: { ...statement(2, [FIRST], { account: 'acc_eu_bob' }) } },
    { payload: { ...statement(2, [FIRST], { keys: [FIRST, FIRST] }) } },
  ];
  for (const wrong of versions) {
    await fixture.take(statement(1, [FIRST]));
    await worth(fixture, A, 'valid');
    const batch = await fixture.version(statement(2, [FIRST]), wrong);
    await fixture.hold(batch);
    await worth(fixture, A, 'unknown');
    assert.equal(await fixture.held(), []);
    fixture.decide(batch);
  }
  assert.is(fixture.log.filter((line) => line.includes('cannot be gone by')).length, versions.length);
  assert.equal(fixture.forged, []);
});

test('what nobody gives is asked for again: as a member comes, after a while, and after a restart', async () => {
  await using fixture = await ElsewhereFixture.open();
  fixture.connected = [];
  await fixture.take(statement(1, [FIRST]));
  await until('a look', async () => (await fixture.wanted()) === 1);
  assert.equal(fixture.asked, []);
  fixture.connected = [SG];
  fixture.follower.noteConnected();
  await worth(fixture, A, 'valid');
  assert.equal(
    fixture.asked.map(([, member]) => member),
    [SG],
  );

  fixture.answer = () => undefined;
  await fixture.take(statement(2, [SECOND]));
  await until('it to be asked for again', () => fixture.asked.length > 3);
  assert.is(await fixture.word(A), 'valid', 'the newest that is held goes on meanwhile');
  await fixture.restart();
  fixture.answer = (id) => fixture.payloads.get(id);
  await worth(fixture, B, 'valid');
  await until('nothing to be wanted', async () => (await fixture.wanted()) === 0);
});

test('a home can make this node keep so many accounts and bytes, and no more', async () => {
  await using fixture = await ElsewhereFixture.open({ accounts: 2, bytes: 1 << 20 });
  for (const name of ['a', 'b', 'c', 'd']) {
    const version = statement(1, [statedKey(name)], { account: `acc_eu_${name}` });
    await fixture.take(version);
    await until('it to be looked at', async () => (await fixture.wanted()) === 0);
  }
  assert.equal(await Promise.all(['a', 'b', 'c', 'd'].map((name) => fixture.word(textOf(name)))), [
    'valid',
    'valid',
    'unknown',
    'unknown',
  ]);
  assert.is(fixture.log.filter((line) => line.includes('no more are taken')).length, 1);
  await fixture.restart({ accounts: 2, bytes: 1 << 20 });
  // What is held goes on, and gives room again.
  await fixture.take(statement(2, [statedKey('e')], { account: 'acc_eu_a' }));
  await worth(fixture, textOf('e'), 'valid');
  await fixture.take(statement(3, [], { account: 'acc_eu_a', nodes: [EU] }));
  await until('it to be gone', async () => (await fixture.held('acc_eu_a')).length === 0);
  await fixture.take(statement(2, [statedKey('c')], { account: 'acc_eu_c' }));
  await worth(fixture, textOf('c'), 'valid');
  await using small = await ElsewhereFixture.open({ accounts: 9, bytes: 1_000 });
  await small.take(statement(1, [FIRST]));
  await until('it to be looked at', async () => (await small.wanted()) === 0);
  assert.is(await small.word(A), 'unknown');
});

test('a version of which a home forks is dropped with its record', async () => {
  await using fixture = await ElsewhereFixture.open();
  const first = await fixture.take(statement(1, [FIRST]));
  await worth(fixture, A, 'valid');
  const second = await fixture.version(statement(2, [SECOND], { nodes: [EU, US] }));
  await fixture.hold(second);
  await worth(fixture, A, 'ended');
  await fixture.drop(second);
  await worth(fixture, A, 'valid');
  await until('only the first to be held', async () => (await fixture.held()).join() === '1');
  await until('nothing to be wanted', async () => (await fixture.wanted()) === 0);
  assert.is(first.envelope.batch, 1);
});

test('a key that two accounts state is neither’s, and does not fall to the second as the first gives it up', async () => {
  await using fixture = await ElsewhereFixture.open();
  await fixture.take(statement(1, [FIRST, SECOND]));
  await worth(fixture, A, 'valid');
  await fixture.take(statement(1, [FIRST], { account: 'acc_eu_thief' }));
  await worth(fixture, A, 'unknown');
  assert.is(await fixture.word(B), 'valid');
  assert.is(fixture.log.filter((line) => line.includes('state the same API key')).length, 1);
  await fixture.take(statement(2, [SECOND]));
  await until('the first to give it up', async () => (await fixture.held()).join() === '2');
  assert.is(await fixture.word(A), 'unknown');
});

test('a refusal by a node that the account names ends a key, and one by another does not', async () => {
  await using fixture = await ElsewhereFixture.open();
  await fixture.take(statement(1, [FIRST, SECOND], { nodes: [EU, US] }));
  await worth(fixture, A, 'valid');
  const refuse = (node: NodeId, { id }: StatedKey) =>
    fixture.make(node, { kind: 'account_key_refused', account: ADA, sourceId: refusalSource(id) });
  await fixture.hold(await refuse(SG, FIRST));
  assert.is(await fixture.word(A), 'valid');
  const { changes } = fixture;
  await fixture.hold(await refuse(EU, SECOND));
  assert.is(await fixture.word(B), 'refused');
  assert.ok(fixture.changes > changes, 'what was remembered of keys is read anew');
});

test('the tier is the lower of what the home grants and what the node does', async () => {
  await using fixture = await ElsewhereFixture.open();
  for (const [i, [granted, given]] of Object.entries({ unmetered: 'professional', developer: 'developer' }).entries()) {
    const tier = TIERS.find((each) => each === granted);
    if (tier !== undefined) await fixture.take(statement(i + 1, [FIRST], { tier }));
    await until(given, async () => {
      const found = await fixture.key(A);
      return found !== undefined && found !== 'ended' && found.foreign.account.tier === given;
    });
  }
});

test.run();
