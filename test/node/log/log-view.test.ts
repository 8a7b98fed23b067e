import { Registry } from 'prom-client';
import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TopicReadingState } from '../../../node/anchoring/topic/reading-state.ts';
import { INITIAL_HEAD } from '../../../node/anchoring/topic/topic-links.ts';
import type { KnownCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { logHealth, type LogSources, logState, topicState, type VouchingView } from '../../../node/log/log-view.ts';
import { watchLog } from '../../../node/metrics/metrics.ts';
import { LogHealthShape, LogStateShape, TopicStateShape } from '../../../protocol/api/log-state.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { isBase64url } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { hashOf } from '../../protocol/log/topic.ts';

const HEAD = { sequence: 9, runningHash: INITIAL_HEAD.runningHash };

function knownOf(name: string, size: number): KnownCheckpoint {
  const signature = 'c2ln';
  if (!isBase64url(signature)) throw new Error('base64url');
  const [federation, keyId, root] = [hashOf('genesis'), hashOf('key'), hashOf('root')];
  const checkpoint = {
    v: 1,
    type: 'checkpoint',
    federation,
    node: nodeId(name),
    keyId,
    size,
    root,
    vouched: {},
  } as const;
  return { checkpoint, signed: { text: 'text', signature } };
}

const VOUCHING: VouchingView = {
  vouched: () => new Map([[nodeId('us'), 3]]),
  underived: [{ node: nodeId('us'), batch: 4, code: 'source-skipped' }],
  lacking: [{ node: nodeId('jp'), batch: 7, since: timestampOf(Date.UTC(2026, 5, 1)) }],
  closed: [nodeId('us')],
};

/** One mirror lies at message 7, the member `sg` at message 3. */
const READING: TopicReadingState = {
  position: { ...HEAD, consensusTimestamp: null },
  final: HEAD,
  agreed: HEAD,
  sources: [
    { host: 'mirror.example', position: 9, lastAnswerAt: 1, failure: null, contradiction: null, paused: false },
    {
      host: 'liar.example',
      position: 8,
      lastAnswerAt: null,
      failure: 'http://secret.internal:8080 refused',
      contradiction: { who: 'liar.example', kind: 'final', sequence: 7 },
      paused: false,
    },
  ],
  consensus: { lastAnswerAt: null, failure: null, contradiction: null },
  members: [
    { member: nodeId('us'), sequence: null, contradiction: null },
    { member: nodeId('sg'), sequence: 9, contradiction: { who: 'sg', kind: 'itself', sequence: 3 } },
  ],
  waitingFor: 'members',
  secondSourceSince: 5,
};

function sourcesWith(change: Partial<LogSources> = {}): LogSources {
  return {
    federationLog: { size: 6, root: hashOf('own root') },
    checkpointStore: { all: () => [knownOf('us', 6), knownOf('eu', 4)], contradicted: [knownOf('sg', 2)] },
    readingState: () => READING,
    needsRoster: null,
    contradictedBy: [],
    ...change,
  };
}

test('who contradicts what is known here is named, mirrors and members alike, in health and on the federation page', () => {
  const expected = [
    { who: 'liar.example', kind: 'final', sequence: 7 },
    { who: 'sg', kind: 'itself', sequence: 3 },
  ];
  const health = logHealth(sourcesWith());
  assert.equal(health.contradictions, expected);
  assert.equal(topicState(sourcesWith()).contradictions, expected);
  assert.equal([health.size, health.root, health.waitingFor], [6, hashOf('own root'), 'members']);
  assert.equal(health.falseCheckpoints, ['sg']);
});

test('a roster that the log waits for comes before all else that is waited for', () => {
  const waiting = sourcesWith({ needsRoster: hashOf('roster') });
  assert.is(logHealth(waiting).waitingFor, 'roster');
  assert.is(topicState(waiting).waitingFor, 'roster');
  assert.is(logState(waiting, VOUCHING).needsRoster, hashOf('roster'));
});

test('each checkpoint says how far it is behind, and false ones say what they are', () => {
  const { checkpoints, falseCheckpoints, vouched, underived } = logState(sourcesWith(), VOUCHING);
  assert.equal([vouched, underived], [{ us: 3 }, VOUCHING.underived]);
  assert.equal(
    checkpoints.map(({ node, size, behind }) => [node, size, behind]),
    [
      ['us', 6, 0],
      ['eu', 4, 2],
    ],
  );
  assert.equal(falseCheckpoints, [{ node: 'sg', keyId: hashOf('key'), size: 2, root: hashOf('root') }]);
});

test('while most members contradict the own tree, nobody is accused, and a member of two false ones is counted once', async () => {
  const two = { all: () => [], contradicted: [knownOf('sg', 2), knownOf('sg', 5)] };
  const registry = new Registry();
  let sources = sourcesWith({ checkpointStore: two });
  watchLog(registry, {
    log: () => logState(sources, VOUCHING),
    topic: () => topicState(sources),
    contradicted: () => false,
    removal: () => null,
  });
  assert.equal(logHealth(sources).falseCheckpoints, ['sg']);
  assert.is(logState(sources, VOUCHING).falseCheckpoints.length, 2);
  assert.match(await registry.metrics(), 'meridian_false_checkpoints 1');
  sources = sourcesWith({ checkpointStore: two, contradictedBy: [nodeId('sg'), nodeId('us')] });
  assert.equal(logHealth(sources).falseCheckpoints, []);
  assert.equal(logState(sources, VOUCHING).falseCheckpoints, []);
});

test('a decided batch that is not held says since when, who was asked in vain and who was not: it closes no chain', () => {
  const [eu, jp, sg, us] = ['eu', 'jp', 'sg', 'us'].map(nodeId);
  assert.ok(eu && jp && sg && us);
  const told = new Map([
    [jp, 6],
    [sg, 0],
    [us, 7],
  ]);
  const { lacking, closed } = logState(sourcesWith(), VOUCHING, { others: [eu, jp, sg, us], toldHeads: () => told });
  const since = timestampOf(Date.UTC(2026, 5, 1));
  assert.equal(lacking, [{ node: 'jp', batch: 7, since, without: ['jp', 'sg'], unasked: ['eu'] }]);
  assert.not.ok(closed.includes(jp));
});

test('answers are of the shape that is documented, and tell no address that a mirror failed at', () => {
  assert.ok(Compile(LogHealthShape).Check(logHealth(sourcesWith())));
  assert.ok(Compile(LogStateShape).Check(logState(sourcesWith(), VOUCHING)));
  const topic = topicState(sourcesWith());
  assert.ok(Compile(TopicStateShape).Check(topic));
  assert.not.match(JSON.stringify(topic), 'secret.internal');
  assert.equal(
    topic.mirrors.map(({ host, answers }) => [host, answers]),
    [
      ['mirror.example', true],
      ['liar.example', false],
    ],
  );
  assert.equal(topic.told, { us: null, sg: 9 });
});

test('metrics name who contradicts, and forget it once it does no more', async () => {
  const registry = new Registry();
  let reading = READING;
  const sources = sourcesWith({ readingState: () => reading });
  const log = () => logState(sources, VOUCHING);
  watchLog(registry, {
    log,
    topic: () => topicState(sources),
    contradicted: () => true,
    removal: () => ({ index: 3, isReleased: true }),
  });
  const before = await registry.metrics();
  for (const line of [
    'meridian_log_decisions 6',
    'meridian_log_needs_roster 0',
    'meridian_topic_contradiction{source="liar.example"} 7',
    'meridian_topic_mirror_sequence{mirror="liar.example"} 8',
    'meridian_checkpoint_decisions{member="eu"} 4',
    'meridian_false_checkpoints 1',
    'meridian_closed_chains 1',
    'meridian_contradicted 1',
    'meridian_removed 2',
  ]) {
    assert.ok(before.split('\n').includes(line), line);
  }
  reading = { ...READING, sources: READING.sources.slice(0, 1), members: [] };
  assert.not.match(await registry.metrics(), 'meridian_topic_contradiction{');
});

test.run();
