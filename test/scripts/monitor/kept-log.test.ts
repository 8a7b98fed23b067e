import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { FederationLog } from '../../../node/log/federation-log.ts';
import { logEntryTable, logTileTable } from '../../../node/log/log-tables.ts';
import { KeptLog } from '../../../scripts/monitor/kept-log.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { leafHash } from '../../../protocol/merkle/hash.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { inclusionPath, merkleRoot } from '../../../protocol/merkle/tree.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import { accountOf, genesisOf, Topic } from '../../protocol/log/topic.ts';

const US = nodeId('us');
/** Decisions that are kept, and how many go at once. */
const KEPT = 512;
const STEP = 1_024;
const ROSTER_AT = 10;

/** Batches of one member, and a roster early among them. */
function longTopic(decisions: number): Topic {
  const topic = new Topic();
  for (let batch = 1; batch <= ROSTER_AT; batch++) topic.say('us', topic.batch('us', batch));
  topic.say(['us', 'eu', 'ca'], topic.next({ name: 'second' }));
  for (let batch = ROSTER_AT + 1; batch < decisions; batch++) topic.say('us', topic.batch('us', batch));
  return topic;
}

const topic = longTopic(STEP + KEPT + 300);
const texts = topic.decisions.map((decision) => decisionText.write(decision));
const leaves = texts.map((text) => leafHash(nativeSuite, text));

async function openLog(rows: MemoryRows): Promise<FederationLog> {
  const log = await FederationLog.open(rows, rosterStatement.write(genesisOf()));
  for (const text of topic.texts.values()) await log.keepRoster(text);
  return log;
}

test('what is older than is kept goes, but for what the tree and proofs are made of', async () => {
  const rows = new MemoryRows();
  const log = await openLog(rows);
  await log.take(topic.messages);
  const kept = new KeptLog({ rows, log, trimmed: 0, kept: KEPT });
  await kept.trim();
  assert.is(kept.from, STEP);
  assert.equal(
    [await kept.batch(US, 5), await kept.decision(5), await logEntryTable.get(rows, 5)],
    [undefined, undefined, undefined],
  );
  const first = await kept.firstBatch(US);
  assert.is(first, STEP, 'one decision before it put a roster in force');
  const batch = await kept.batch(US, STEP + 100);
  assert.equal(batch?.decision, topic.decisions[STEP + 100]);

  // Every later root, and the path of the roster's decision.
  for (const size of [STEP, STEP + 1, STEP + 300, log.size]) {
    assert.is(await log.rootAt(size), writeSha256(merkleRoot(nativeSuite, leaves.slice(0, size))));
  }
  assert.is(await log.entry(ROSTER_AT), texts[ROSTER_AT]);
  const path = (await log.pathAt(ROSTER_AT, log.size)).map(writeSha256);
  assert.equal(path, inclusionPath(nativeSuite, leaves, ROSTER_AT).map(writeSha256));
  assert.is(await logTileTable.get(rows, 0, 1), undefined);
});

test('a log that was trimmed goes on, also where a node names anew what was let go', async () => {
  const rows = new MemoryRows();
  const before = await openLog(rows);
  await before.take(topic.messages);
  const trimming = new KeptLog({ rows, log: before, trimmed: 0, kept: KEPT });
  await trimming.trim();

  const log = await openLog(rows);
  const more = longTopic(STEP + KEPT + 300);
  more.pay(accountOf('us'), more.batch('us', 3, 'another'));
  more.say('us', more.batch('us', STEP + KEPT + 300));
  const { decided, rivals } = await log.take(more.messages.slice(topic.messages.length));
  assert.equal([decided.length, rivals], [1, []]);
  // What a crash left of the trimming is done again.
  const again = new KeptLog({ rows, log, trimmed: 0, kept: KEPT });
  await again.trim();
  assert.is(again.from, STEP);
  const grown = more.decisions.map((decision) => leafHash(nativeSuite, decisionText.write(decision)));
  assert.is(log.root, writeSha256(merkleRoot(nativeSuite, grown)));
});

test.run();
