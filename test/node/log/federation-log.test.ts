import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { FederationLog, LogDamagedError } from '../../../node/log/federation-log.ts';
import { logTileTable } from '../../../node/log/log-tables.ts';
import { openGate } from '../../../node/store/operation.ts';
import type { Store } from '../../../node/store/store.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { leafHash } from '../../../protocol/merkle/hash.ts';
import { inclusionPath, merkleRoot } from '../../../protocol/merkle/tree.ts';
import { fc } from '../../fixtures/properties.ts';
import { accountOf, genesisOf, memberOf, STRANGER, Topic } from '../../protocol/log/topic.ts';
import { LogStore } from './log-store.ts';

const GENESIS = rosterStatement.write(genesisOf());
/** More than one tile. */
const BATCHES = 300;

/** Batches of two members with what strangers write between them; a rescue; a roster at the end. */
function longTopic(): Topic {
  const topic = new Topic();
  for (let batch = 1; batch <= BATCHES / 2; batch++) {
    topic.say('us', topic.batch('us', batch));
    if (batch % 10 === 0) topic.pay(STRANGER, topic.batch('ca', 1));
    topic.say('eu', topic.batch('eu', batch));
  }
  topic.say(['us', 'eu', 'ca'], topic.batch('sg', 1));
  topic.say(['us', 'eu', 'ca'], topic.next({ name: 'second' }));
  return topic;
}

const topic = longTopic();
const leaves = topic.decisions.map((decision) => leafHash(nativeSuite, decisionText.write(decision)));
const rootOf = (size: number) => writeSha256(merkleRoot(nativeSuite, leaves.slice(0, size)));

async function openLog(store: Store): Promise<FederationLog> {
  const log = await FederationLog.open(store, GENESIS);
  for (const text of topic.texts.values()) await log.keepRoster(text);
  return log;
}

test('pages of final messages become the decisions, tree and state that the topic makes', async () => {
  await using home = await LogStore.open();
  const log = await openLog(home.store);
  const decided = [];
  for (let at = 0; at < topic.messages.length; at += 70) {
    decided.push(...(await log.take(topic.messages.slice(at, at + 70))).decided);
  }
  assert.equal(
    decided.map(({ decision }) => decision),
    topic.decisions,
  );
  assert.equal(log.state, topic.state);
  assert.equal([log.size, log.root], [topic.decisions.length, rootOf(topic.decisions.length)]);
  for (const size of [1, 2, 255, 256, 257, log.size]) assert.is(await log.rootAt(size), rootOf(size));
  assert.equal(await log.decisionOf(nodeId('sg'), 1), topic.decisions.at(-2));
  assert.is(await log.decisionOf(nodeId('sg'), 2), undefined);
  assert.equal(
    await log.entries(250, 10),
    topic.decisions.slice(250, 260).map((decision) => decisionText.write(decision)),
  );
  assert.equal(await log.pathAt(7, 280), inclusionPath(nativeSuite, leaves.slice(0, 280), 7));
});

test('a tile is there up to its width in the log and no further', async () => {
  await using home = await LogStore.open();
  const log = await openLog(home.store);
  await log.take(topic.messages);
  assert.equal(await log.tile(0, 0, 3), Buffer.concat(leaves.slice(0, 3)));
  assert.is((await log.tile(0, 0, 256))?.length, 256 * 32);
  assert.equal(await log.tile(0, 1, 2), Buffer.concat(leaves.slice(256, 258)));
  assert.is(await log.tile(0, 1, log.size - 255), undefined);
  assert.equal(await log.tile(1, 0, 1), Buffer.from(merkleRoot(nativeSuite, leaves.slice(0, 256))));
});

test('however the pages fall, and wherever the disk fails or the node stops, the log is the same', async () => {
  const pages = fc.array(
    fc.record({ size: fc.integer({ min: 1, max: 120 }), fails: fc.boolean(), stops: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  const property = fc.asyncProperty(pages, async (plan) => {
    let failing = false;
    await using home = await LogStore.open((commit) =>
      failing ? Promise.reject(new Error('the disk is gone')) : openGate(commit),
    );
    let log = await openLog(home.store);
    for (let step = 0; log.state.sequence < topic.messages.length; step++) {
      const { size, fails, stops } = plan[step] ?? { size: 500, fails: false, stops: false };
      const from = log.state.sequence;
      const before = log.root;
      failing = fails;
      const taking = log.take(topic.messages.slice(from, from + size));
      if (fails) {
        await taking.then(
          () => assert.unreachable('the write failed'),
          () => undefined,
        );
        assert.equal([log.state.sequence, log.root], [from, before]);
        failing = false;
      } else await taking;
      if (fails || stops) log = await FederationLog.open(await home.reopen(), GENESIS);
      assert.is(log.state.sequence, fails ? from : Math.min(from + size, topic.messages.length));
    }
    assert.equal([log.root, log.state], [rootOf(topic.decisions.length), topic.state]);
  });
  await fc.assert(property, { numRuns: 12 });
});

test('a roster whose text is not here stops the log before it, and nothing is read past it', async () => {
  await using home = await LogStore.open();
  const log = await FederationLog.open(home.store, GENESIS);
  const { decided, needs } = await log.take(topic.messages);
  const [[hash, text] = ['', '']] = topic.texts;
  assert.is(needs, hash);
  assert.is(decided.length, topic.decisions.length - 1);
  assert.is(log.state.sequence, topic.messages.length - 1);
  assert.is((await log.take(topic.messages.slice(-1))).needs, hash);
  await log.keepRoster(text);
  assert.is((await log.take(topic.messages.slice(-1))).needs, null);
  assert.equal([log.root, log.state], [rootOf(topic.decisions.length), topic.state]);
  assert.is(needs === null ? undefined : await log.rosterText(needs), text);
});

test('messages that do not follow are refused, and the log stays', async () => {
  await using home = await LogStore.open();
  const log = await openLog(home.store);
  await log.take(topic.messages.slice(0, 5));
  await log.take(topic.messages.slice(0, 5)).then(
    () => assert.unreachable('read twice'),
    (error: unknown) => assert.match(String(error), /is the next/),
  );
  assert.is(log.state.sequence, 5);
  await log.take(topic.messages.slice(5));
  assert.is(log.root, rootOf(topic.decisions.length));
});

test('a name beside the one that was decided is told as a rival, and the first of each number is kept', async () => {
  await using home = await LogStore.open();
  const log = await FederationLog.open(home.store, GENESIS);
  const told = new Topic();
  told.pay(accountOf('us'), told.batch('us', 1));
  told.pay(accountOf('us'), told.batch('us', 1, 'another'));
  told.pay(accountOf('us'), told.batch('us', 1, 'a third'));
  const { rivals, decided } = await log.take(told.messages);
  assert.is(decided.length, 1);
  const [told1, rival] = [told.rivals[0], rivals[0]];
  assert.equal(rivals.length, 1);
  assert.equal(rival, { ...told1, name: rival?.name });
  const kept = await log.rivalOf(nodeId('us'), 1);
  assert.equal(kept, rivals[0]?.name);
  assert.equal([kept?.sequence, kept?.index, kept?.payer], ['2', 1, accountOf('us')]);
  told.pay(accountOf('us'), told.batch('us', 2));
  told.pay(accountOf('us'), told.batch('us', 1, 'a fourth'));
  const later = await (await FederationLog.open(home.store, GENESIS)).take(told.messages.slice(3));
  assert.equal([later.decided.length, later.rivals], [1, []]);
});

test('a number before the last that is named again as it was decided is no rival; another envelope is one', async () => {
  await using home = await LogStore.open();
  const log = await FederationLog.open(home.store, GENESIS);
  const told = new Topic();
  for (const batch of [1, 2, 3]) told.pay(accountOf('us'), told.batch('us', batch));
  told.pay(accountOf('us'), told.batch('us', 1));
  assert.equal((await log.take(told.messages)).rivals, []);
  told.pay(accountOf('us'), told.batch('us', 2));
  told.pay(accountOf('us'), told.batch('us', 2, 'another'));
  const { rivals } = await log.take(told.messages.slice(4));
  assert.equal(
    rivals.map(({ batch, sequence }) => [batch, sequence]),
    [[2, 6]],
  );
  assert.is(await log.rivalOf(nodeId('us'), 1), undefined);
});

test('the store of another federation, and one that misses a tile, is refused', async () => {
  await using home = await LogStore.open();
  const log = await openLog(home.store);
  await log.take(topic.messages);
  const other = rosterStatement.write(genesisOf(['us'], { members: [memberOf('us', { region: 'elsewhere' })] }));
  const refused = async (text: string) =>
    FederationLog.open(home.store, text).then(
      () => 'opened',
      (error: unknown) => error instanceof LogDamagedError,
    );
  assert.is(await refused(other), true);
  assert.is(await refused(GENESIS), 'opened');
  await home.store.write([logTileTable.del(0, 1)]);
  assert.is(await refused(GENESIS), true);
});

test.run();
