import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWalk } from '../../../protocol/chain/batch-walk.ts';
import {
  ChainStateShape,
  FROM_TOLERANCE_MS,
  leastFrom,
  startOfChain,
  stateAfter,
} from '../../../protocol/chain/chain-state.ts';
import { envelopeFits } from '../../../protocol/chain/envelope-rules.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { ChainRefusal, REFUSALS } from '../../../protocol/chain/refusal.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { canonicalText } from '../../../protocol/statement/statement.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { type ChainBatch, MemberChain } from '../../fixtures/member-chain.ts';

test('a node walks its own batch before its envelope is signed or decided', async () => {
  const chain = await MemberChain.create();
  const sealed = await chain.seal([[{}, {}], [{}]]);
  const draft = envelopeOf(sealed);
  assert.is(envelopeFits(chain.state, draft), null);
  const walk = new BatchWalk(chain.context, draft);
  for (const { signed, records } of sealed.groups) await walk.takeGroup(signed, records);
  assert.is(walk.finish().tree.size, 3);
});

test('a draft that does not go on from the chain is told why, with no signature made', async () => {
  const chain = await MemberChain.create();
  chain.append(await chain.seal([[{}]]));
  const draft = envelopeOf(await chain.seal([[{}]]));
  const codes = (change: Partial<Envelope>) => envelopeFits(chain.state, { ...draft, ...change })?.code ?? null;
  assert.is(codes({}), null);
  assert.is(codes({ prev: null }), 'prev-mismatch');
  assert.is(codes({ batch: 1 }), 'batch-mismatch');
  assert.is(codes({ batch: 3 }), 'batch-mismatch');
  assert.is(codes({ first: 1 }), 'range-gap');
  assert.is(codes({ first: 3 }), 'range-gap');
  assert.is(codes({ size: 65_536 }), null);
  assert.is(codes({ size: 65_537 }), 'batch-too-large');
  assert.is(codes({ sealedAt: draft.from }), null);
  assert.is(codes({ sealedAt: shifted(draft.from, -1) }), 'sealed-before-from');
  assert.is(codes({ from: timestampOf(leastFrom(chain.state)) }), null);
  assert.is(codes({ from: timestampOf(leastFrom(chain.state) - 1) }), 'from-too-early');
});

test('what comes after a batch that is not decided yet is held to the seal, which no decision makes looser', async () => {
  const chain = await MemberChain.create();
  const draft = envelopeOf(await chain.seal([[{}, {}]]));
  const hash = hashText(nativeSuite, envelopeStatement.write(draft));
  const open = stateAfter(draft, hash, null);
  assert.equal(open, { v: 1, node: 'eu', batch: 1, next: 3, prev: hash, since: draft.sealedAt });
  for (const lead of [-600_000, -1, 0, 1, 600_000]) {
    const decided = stateAfter(draft, hash, shifted(draft.sealedAt, lead));
    assert.is(leastFrom(decided), Date.parse(draft.sealedAt) + Math.min(0, lead) - FROM_TOLERANCE_MS);
    assert.ok(leastFrom(decided) <= leastFrom(open));
  }
});

test('a state is a closed shape that is written and read back', () => {
  const text = canonicalText('chain state', ChainStateShape);
  const state = startOfChain(nodeId('eu'), timestampOf(0));
  assert.equal(text.parse(text.write(state)), state);
});

test('a chain may begin in the first year that can be written', () => {
  assert.is(
    leastFrom({ since: timestampOf(Date.parse('0000-01-01T00:00:00.000Z')) }),
    Date.parse('0000-01-01T00:00:00.000Z') - FROM_TOLERANCE_MS,
  );
});

test('a refusal tells whose fault it is', () => {
  const faults = (['from-too-early', 'source-skipped', 'key-not-certified'] as const).map(
    (code) => new ChainRefusal(code, '').fault,
  );
  assert.equal(faults, ['decided', 'origin', 'copy']);
  assert.equal([...new Set(Object.values(REFUSALS))].toSorted(), ['copy', 'decided', 'origin']);
});

function envelopeOf({ envelope }: ChainBatch): Envelope {
  return envelopeStatement.parse(envelope.statement);
}

function shifted(at: Timestamp, milliseconds: number): Timestamp {
  return timestampOf(Date.parse(at) + milliseconds);
}

test.run();
