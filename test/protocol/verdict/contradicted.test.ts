import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import type { CountedCheckpoint, LogView } from '../../../protocol/verdict/known.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { bundleOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { counted, verdictOf, wordOf } from './judged.ts';

const log = await FederationLog.create({ quorum: 2 });
const first = await log.record('us');
const sealed = await log.record('eu');
const bundle = await bundleOf(log, sealed);
const bare = { ...bundle, checkpoints: [] };

async function countedBy(...nodes: readonly string[]): Promise<CountedCheckpoint[]> {
  const signed = await Promise.all(nodes.map((node) => log.checkpoint(node)));
  return signed.map(({ text }, i) => {
    const { identityKey } = log.member(nodes[i] ?? '').member;
    return { checkpoint: checkpointStatement.parse(text), identityKey };
  });
}

function wordBy(view: LogView, of = bundle) {
  return wordOf(log, of, { log: view });
}

test('a node’s own log pins its genesis', () => {
  const verdict = verdictOf(log, bundle, { log: viewOf(log, [first, sealed]) });
  assert.is(verdict.word, 'verified');
  assert.equal(verdict.pinned, { version: 1, hash: log.genesis });
});

test('what a node does not know contradicts nothing', () => {
  const nothing = { rootAt: () => undefined, decisionAt: () => undefined, decidedBatch: () => undefined };
  assert.is(wordBy(viewOf(log, [], nothing)), 'verified');
});

test('another decision of the batch, or at its place, is a contradiction', () => {
  const [of, other] = [log.decisions[1], log.decisions[0]];
  assert.is(wordBy(viewOf(log, [], { decisionAt: () => other })), 'contradicted');
  assert.is(wordBy(viewOf(log, [], { decisionAt: () => undefined, decidedBatch: () => other })), 'contradicted');
  assert.is(wordBy(viewOf(log, [], { decidedBatch: () => of })), 'verified');
});

test('no signature is called valid of what the verifier knows better', () => {
  const { checks, facts } = verdictOf(log, bundle, { log: viewOf(log, [], { decisionAt: () => log.decisions[0] }) });
  assert.equal([facts.contradicted, facts.signed, facts.sealed, checks.sigValid], [true, 'holds', 'holds', false]);
  assert.ok(verdictOf(log, bundle).checks.sigValid);
});

test('the same envelope decided by another message is a contradiction', () => {
  const rival = (log.decisions[1] ?? '').replace('"index":1', '"index":7');
  assert.is(wordBy(viewOf(log, [], { decidedBatch: () => rival })), 'contradicted');
});

test('without a decision in the bundle, only another envelope contradicts', () => {
  const undecided = { ...bundle, decision: null };
  assert.is(wordBy(viewOf(log, [sealed]), undecided), 'no-decision-yet');
  assert.is(wordBy(viewOf(log, [], { decidedBatch: () => log.decisions[0] }), undecided), 'contradicted');
});

test('checkpoints that a node counted need no signature, and are counted as any others', async () => {
  const checkpoints = await countedBy('us', 'ca');
  assert.is(wordBy(viewOf(log, [sealed]), bare), 'too-few-checkpoints');
  assert.is(wordBy(viewOf(log, [sealed], { checkpoints: checkpoints.slice(1) }), bare), 'too-few-checkpoints');
  const { verdict, signatures } = counted(bare, { log: viewOf(log, [sealed], { checkpoints }) });
  assert.is(verdict.word, 'verified');
  assert.is(signatures, 3, 'a certificate of eu, its receipt and its envelope');
});

test('a checkpoint that was counted by another identity key than the roster’s is not that member’s', async () => {
  const checkpoints = await countedBy('us', 'ca');
  const { identityKey } = log.member('sg').member;
  const wrong = checkpoints.map(({ checkpoint }) => ({ checkpoint, identityKey }));
  assert.is(wordBy(viewOf(log, [sealed], { checkpoints: wrong }), bare), 'too-few-checkpoints');
});

test('a checkpoint that a node counted covers no decision after it', async () => {
  const checkpoints = (await countedBy('us', 'ca')).map(({ checkpoint, identityKey }) => {
    return { checkpoint: Object.assign({}, checkpoint, { size: 1, root: log.rootAt(1) }), identityKey };
  });
  assert.is(wordBy(viewOf(log, [sealed], { checkpoints }), bare), 'too-few-checkpoints');
});

test('a node’s own tree proves a decision that the bundle has no path for', async () => {
  const { decision } = bundle;
  if (decision === null) throw new Error('no decision');
  const pathless = { ...bundle, decision: { ...decision, paths: [] } };
  assert.is(wordOf(log, pathless), 'too-few-checkpoints');
  assert.is(wordBy(viewOf(log, [sealed]), pathless), 'verified');
  assert.is(wordBy(viewOf(log, [sealed], { decisionAt: () => undefined }), pathless), 'too-few-checkpoints');
});

test('rosters that the node has and the bundle has not are judged by', async () => {
  const made = await FederationLog.create({ quorum: 2 });
  const record = await made.record('eu');
  const held = await bundleOf(made, record, 0, { witnesses: ['us', 'ca'] });
  made.addRoster({ members: made.membersWith([], ['eu']) });
  const after = await made.seal('eu');
  made.decide(after);
  const late = { ...(await bundleOf(made, after, 0, { rosters: 1 })) };
  assert.is(wordOf(made, held, { log: viewOf(made, [record]) }), 'verified');
  assert.is(wordOf(made, late), 'verified', 'for whoever does not know that eu was removed');
  assert.is(wordOf(made, late, { log: viewOf(made, [record]) }), 'decision-mismatch');
});

test('a longer chain of rosters than the node has is judged by majorities, as anybody’s', async () => {
  const made = await FederationLog.create({ quorum: 2 });
  const record = await made.record('eu');
  const early = viewOf(made, [record]);
  const view = {
    ...early,
    rosters: early.rosters.slice(),
    decisionAt: (i: number) => (i === 0 ? made.decisions[0] : undefined),
  };
  made.addRoster({ name: 'renamed' });
  const rootAt = (size: number) => (size === 1 ? made.rootAt(1) : undefined);
  assert.is(wordOf(made, await bundleOf(made, record), { log: { ...view, rootAt } }), 'verified');
  const few = await bundleOf(made, record, 0, { witnesses: ['us', 'ca'] });
  assert.is(wordOf(made, few, { log: { ...view, rootAt } }), 'roster-without-majority');
});

test.run();
