import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWalk, type MadeGroup, type WalkedBatch } from '../../../protocol/chain/batch-walk.ts';
import {
  ChainStateShape,
  FROM_TOLERANCE_MS,
  leastFrom,
  startOfChain,
  stateAfter,
} from '../../../protocol/chain/chain-state.ts';
import { envelopeFits } from '../../../protocol/chain/envelope-rules.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { ChainRefusal, type RefusalCode, REFUSALS } from '../../../protocol/chain/refusal.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { canonicalText } from '../../../protocol/statement/statement.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { type ChainBatch, MemberChain } from '../../fixtures/member-chain.ts';
import { CARRIED } from './carried-mutations.ts';
import { MUTATIONS } from './mutations.ts';

const DRAFTS = [[{}, { sourceId: 'fraud' }, {}], [{ account: 'acc_us_guest' }], [{}, { sourceId: 'fraud' }]];

test('a node walks its own batch before its envelope is signed or decided', async () => {
  const chain = await MemberChain.create();
  const sealed = await chain.seal([[{}, {}], [{}]]);
  const draft = envelopeOf(sealed);
  assert.is(envelopeFits(chain.state, draft), null);
  const walk = new BatchWalk(chain.context, draft);
  for (const { signed, records } of sealed.groups) await walk.takeGroup(signed, records);
  assert.is(walk.finish().tree.size, 3);
});

test('a group that its node made a moment ago is held to the rules without its texts, and comes to the same', async () => {
  const chain = await chainWithPast();
  const sealed = await chain.seal(DRAFTS);
  const { tree, sources } = await walkMade(chain, sealed);
  const read = await walkRead(chain, sealed);
  assert.equal([tree.root(), tree.tiles(), sources], [read.tree.root(), read.tree.tiles(), read.sources]);
});

/** What texts alone tell. */
const OF_TEXTS: readonly RefusalCode[] = ['record-malformed', 'record-too-long'];

for (const { name, code, make } of MUTATIONS) {
  if (OF_TEXTS.includes(code) || CARRIED.some(([carried]) => carried === name)) continue;
  test(`made a moment ago, ${name} is refused as it is where it is read`, async () => {
    const chain = await chainWithPast();
    const sealed = await make(chain, DRAFTS, 0);
    assert.is(await codeOf(walkMade(chain, sealed)), await codeOf(walkRead(chain, sealed)));
  });
}

test('a made group with fewer records or with other leaves than it was signed with is refused', async () => {
  const chain = await chainWithPast();
  const sealed = await chain.seal(DRAFTS);
  const [first, ...rest] = sealed.records;
  const fewer = { ...sealed, records: rest };
  assert.is(await codeOf(walkMade(chain, fewer)), 'group-root-mismatch');
  const flipped = first && { ...first, leaf: first.leaf.map((byte, i) => (i === 7 ? byte ^ 1 : byte)) };
  const other = { ...sealed, records: [...(flipped === undefined ? [] : [flipped]), ...rest] };
  assert.is(await codeOf(walkMade(chain, other)), 'group-root-mismatch');
  const walk = new BatchWalk(chain.context, envelopeOf(sealed));
  const [group] = madeGroups(sealed);
  if (group === undefined) throw new RangeError('no group');
  assert.is(await codeOf(walk.takeMade({ ...group, made: group.made.slice(1) })), 'group-incomplete');
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

async function chainWithPast(): Promise<MemberChain> {
  const chain = await MemberChain.create();
  chain.append(await chain.seal([[{}], [{ sourceId: 'fraud' }]]));
  return chain;
}

async function walkRead(chain: MemberChain, sealed: ChainBatch): Promise<WalkedBatch> {
  const walk = new BatchWalk(chain.context, envelopeOf(sealed));
  for (const { signed, records } of sealed.groups) await walk.takeGroup(signed, records);
  return walk.finish();
}

async function walkMade(chain: MemberChain, sealed: ChainBatch): Promise<WalkedBatch> {
  const walk = new BatchWalk(chain.context, envelopeOf(sealed));
  for (const group of madeGroups(sealed)) await walk.takeMade(group);
  return walk.finish();
}

function madeGroups({ groups, records }: ChainBatch): MadeGroup[] {
  let at = 0;
  return groups.map(({ signed, records: texts }) => ({ signed, made: records.slice(at, (at += texts.length)) }));
}

/** `none` where nothing is refused. */
async function codeOf(walking: Promise<unknown>): Promise<string> {
  try {
    await walking;
    return 'none';
  } catch (error) {
    if (error instanceof ChainRefusal) return error.code;
    throw error;
  }
}

function envelopeOf({ envelope }: ChainBatch): Envelope {
  return envelopeStatement.parse(envelope.statement);
}

function shifted(at: Timestamp, milliseconds: number): Timestamp {
  return timestampOf(Date.parse(at) + milliseconds);
}

test.run();
