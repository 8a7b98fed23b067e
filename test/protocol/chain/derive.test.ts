import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import type { ChainContext } from '../../../protocol/chain/batch-walk.ts';
import { FROM_TOLERANCE_MS } from '../../../protocol/chain/chain-state.ts';
import { BatchDeriver, deriveBatch, type DerivedBatch } from '../../../protocol/chain/derive.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { ChainRefusal, type RefusalCode, REFUSALS } from '../../../protocol/chain/refusal.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { merkleRoot } from '../../../protocol/merkle/tree.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { SIGNATURE_BYTES, type Suite } from '../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../protocol/time.ts';
import {
  type BatchChanges,
  type ChainBatch,
  consensusOf,
  MemberChain,
  type RecordDraft,
} from '../../fixtures/member-chain.ts';
import { fc } from '../../fixtures/properties.ts';
import { MUTATIONS } from './mutations.ts';

const LOANS: RecordDraft = {};
const FRAUD: RecordDraft = { sourceId: 'fraud' };
const GUEST: RecordDraft = { account: 'acc_us_guest' };
const DRAFTS = [[LOANS, FRAUD, LOANS], [GUEST], [LOANS, FRAUD]];

test('a chain of several batches, sources and keys derives, and comes to the state that its maker has', async () => {
  const chain = await MemberChain.create();
  for (let batch = 1; batch <= 4; batch++) {
    if (batch === 3) await chain.rotateKey();
    const sealed = await chain.seal(DRAFTS);
    const derived = requireDerived(await derive(chain, sealed));
    chain.append(sealed);
    assert.equal(derived.state, chain.state);
    assert.is(derived.state.batch, batch);
    assert.is(derived.envelope.batch, batch);
    assert.is(writeSha256(derived.tree.root()), derived.envelope.root);
    assert.is(derived.tree.size, 6);
    assert.is(derived.sources.length, 3);
    for (const { account, sourceId, head } of derived.sources) {
      assert.equal(chain.sources.get(JSON.stringify([account, sourceId])), head);
    }
  }
});

test('every group gives its records with their leaves, as it is taken', async () => {
  const chain = await MemberChain.create();
  const sealed = await chain.seal(DRAFTS);
  const deriver = BatchDeriver.open(chain.context, chain.state, sealed.decided, sealed.envelope);
  let next = 1;
  for (const texts of sealed.groups) {
    assert.is(deriver.next, next);
    const { group, records } = await deriver.takeGroup(texts);
    assert.equal(group, groupStatement.parse(texts.signed.statement));
    assert.is(
      writeSha256(
        merkleRoot(
          nativeSuite,
          records.map(({ leaf }) => leaf),
        ),
      ),
      group.root,
    );
    for (const { record, leaf } of records) {
      assert.is(record.seq, next);
      assert.is(encodeHex(leaf), encodeHex(sealed.records[next - 1]?.leaf ?? new Uint8Array()));
      next++;
    }
  }
  assert.is(deriver.finish().state.next, next);
});

for (const { name, code, make } of MUTATIONS) {
  test(`${name} is refused: ${code}`, async () => {
    const chain = await chainWithPast();
    const refusal = await derive(chain, await make(chain, DRAFTS, 0));
    assert.is(refusal instanceof ChainRefusal ? refusal.code : 'derived', code);
    assert.ok(!((await derive(chain, await chain.seal(DRAFTS))) instanceof ChainRefusal));
  });
}

test('every code of refusal has a batch that is refused with it', () => {
  const shown = new Set<string>(MUTATIONS.map(({ code }) => code));
  assert.equal(
    Object.keys(REFUSALS).filter((code) => !shown.has(code)),
    [],
  );
});

test('any valid chain derives, and any single change of a batch is refused with its code', async () => {
  const draft = fc.constantFrom(LOANS, FRAUD, GUEST);
  const batch = fc.array(fc.array(draft, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
  const past = fc.array(fc.record({ groups: batch, rotates: fc.boolean() }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(past, batch, fc.constantFrom(...MUTATIONS), fc.nat(), async (before, last, mutation, pick) => {
      const chain = await chainWithPast();
      for (const { groups, rotates } of before) {
        if (rotates) await chain.rotateKey();
        const sealed = await chain.seal(groups);
        const { state } = requireDerived(await derive(chain, sealed));
        chain.append(sealed);
        assert.equal(state, chain.state);
      }
      const groups = [[LOANS], ...last, [LOANS]];
      const refusal = await derive(chain, await mutation.make(chain, groups, pick));
      assert.instance(refusal, ChainRefusal, mutation.name);
      if (refusal instanceof ChainRefusal) assert.is(refusal.code, mutation.code, mutation.name);
      requireDerived(await derive(chain, await chain.seal(groups)));
    }),
    { numRuns: 100 },
  );
});

test('a batch may begin five minutes before the earlier of seal and ledger time of the one before, and not earlier', async () => {
  for (const ledgerLead of [-60_000, 0, 60_000]) {
    const chain = await MemberChain.create();
    const first = await chain.seal([[LOANS]]);
    const sealedAt = Date.parse(envelopeStatement.parse(first.envelope.statement).sealedAt);
    const decided = { ...first.decided, consensusTimestamp: consensusOf(sealedAt + ledgerLead) };
    const derived = requireDerived(await derive(chain, { ...first, decided }));
    chain.append({ ...first, decided });
    assert.equal(derived.state, chain.state);
    const least = Math.min(sealedAt, sealedAt + ledgerLead) - FROM_TOLERANCE_MS;
    await refused(null, chain, { envelope: { from: timestampOf(least) } });
    await refused('from-too-early', chain, { envelope: { from: timestampOf(least - 1) } });
  }
});

test('a first batch may begin five minutes before the node was admitted, and not earlier', async () => {
  const chain = await MemberChain.create();
  const least = Date.parse(chain.state.since) - FROM_TOLERANCE_MS;
  await refused(null, chain, { envelope: { from: timestampOf(least) } });
  await refused('from-too-early', chain, { envelope: { from: timestampOf(least - 1) } });
});

test('records of the first and the last millisecond of a batch are in it', async () => {
  const chain = await MemberChain.create();
  const at = timestampOf(Date.parse(chain.state.since));
  await refused(null, chain, { record: () => ({ submittedAt: at }), envelope: { from: at, sealedAt: at } });
});

test('a certificate counts whatever time it says that it is valid from', async () => {
  const chain = await MemberChain.create();
  await chain.rotateKey({ validFrom: timestampOf(Date.parse(chain.state.since) + 1e12) });
  await refused(null, chain, {});
});

test('a key signs groups from the record on that its certificate names', async () => {
  for (const [later, code] of [
    [0, null],
    [1, 'key-not-certified'],
  ] as const) {
    const chain = await chainWithPast();
    await chain.rotateKey({ seqFrom: chain.state.next + later });
    await refused(code, chain, {});
  }
});

test('ids and heads that the history has of this batch already do not stand against it', async () => {
  const chain = await MemberChain.create();
  const sealed = await chain.seal(DRAFTS);
  for (const { record } of sealed.records) chain.places.set(record.id, record.seq);
  requireDerived(await derive(chain, sealed));
});

test('two sources whose names run into one text are two', async () => {
  const chain = await MemberChain.create();
  const drafts = [
    [
      { account: 'a', sourceId: 'b c' },
      { account: 'a b', sourceId: 'c' },
      { account: 'ab', sourceId: ' c' },
    ],
  ];
  assert.is(requireDerived(await derive(chain, await chain.seal(drafts))).sources.length, 3);
});

test('a deriver that has refused, or is in the middle of a group, takes nothing more', async () => {
  const chain = await MemberChain.create();
  const sealed = await chain.seal(DRAFTS);
  const [first, second] = sealed.groups;
  assert.ok(first !== undefined && second !== undefined);
  const refusing = BatchDeriver.open(chain.context, chain.state, sealed.decided, sealed.envelope);
  assert.instance(await failureOf(refusing.takeGroup(second)), ChainRefusal);
  assert.instance(await failureOf(refusing.takeGroup(first)), RangeError);
  assert.throws(
    () => refusing.finish(),
    (error: unknown) => error instanceof RangeError,
  );
  const busy = BatchDeriver.open(chain.context, chain.state, sealed.decided, sealed.envelope);
  const taking = busy.takeGroup(first);
  assert.instance(await failureOf(busy.takeGroup(second)), RangeError);
  await taking;
  await busy.takeGroup(second);
});

test('texts and signatures without end are refused before anything is computed of them', async () => {
  const chain = await MemberChain.create();
  const { decided, envelope, groups } = await chain.seal([[LOANS]]);
  const calls: string[] = [];
  const suite: Suite = {
    ...nativeSuite,
    sha256Hex: (...parts) => {
      calls.push('hash');
      return nativeSuite.sha256Hex(...parts);
    },
    verify: (...args) => {
      calls.push('verify');
      return nativeSuite.verify(...args);
    },
  };
  const context = { ...chain.context, suite };
  const endless = 'x'.repeat(5000);
  const refusal = await deriveBatch(context, chain.state, decided, { ...envelope, statement: endless }, groups);
  assert.is(refusal instanceof ChainRefusal ? refusal.code : null, 'envelope-not-decided');
  assert.equal(calls, []);
  const long = encodeSignature(new Uint8Array(SIGNATURE_BYTES + 1));
  const unsigned = await deriveBatch(context, chain.state, decided, { ...envelope, signature: long }, groups);
  assert.is(unsigned instanceof ChainRefusal ? unsigned.code : null, 'signature-invalid');
  assert.equal(calls, ['hash']);
  const deriver = BatchDeriver.open(context, chain.state, decided, envelope);
  const failure = await failureOf(deriver.takeGroup({ signed: { ...envelope, statement: endless }, records: [] }));
  assert.is(failure instanceof Error ? failure.message : '', 'the statement is too long');
});

test('what the history throws passes through', async () => {
  const chain = await MemberChain.create();
  const sealed = await chain.seal(DRAFTS);
  const failure = new Error('the disk is gone');
  const history = { ...chain.context.history, sourceHeads: () => Promise.reject(failure) };
  const { decided, envelope, groups } = sealed;
  assert.is(
    await failureOf(deriveBatch({ ...chain.context, history }, chain.state, decided, envelope, groups)),
    failure,
  );
});

test('a large group lets other work run between its records, and asks the history in slices', async () => {
  const chain = await MemberChain.create();
  const sealed = await chain.seal([Array.from({ length: 1100 }, (_, i) => ({ sourceId: `s${i % 7}` }))]);
  let rests = 0;
  const asked: number[] = [];
  const { history } = chain.context;
  const context: ChainContext = {
    ...chain.context,
    rest: async () => void rests++,
    history: {
      sourceHeads: (names) => history.sourceHeads(names),
      placesOf: (ids) => {
        asked.push(ids.length);
        return history.placesOf(ids);
      },
    },
  };
  const { decided, envelope, groups } = sealed;
  requireDerived(await deriveBatch(context, chain.state, decided, envelope, groups));
  assert.equal(asked, [256, 256, 256, 256, 76]);
  assert.is(rests, 4 + 4 + 5);
});

async function chainWithPast(): Promise<MemberChain> {
  const chain = await MemberChain.create();
  chain.append(await chain.seal([[LOANS, FRAUD], [GUEST]]));
  return chain;
}

function derive(chain: MemberChain, { decided, envelope, groups }: ChainBatch): Promise<ChainRefusal | DerivedBatch> {
  return deriveBatch(chain.context, chain.state, decided, envelope, groups);
}

/** Null: derived. */
async function refused(code: RefusalCode | null, chain: MemberChain, changes: BatchChanges): Promise<void> {
  const derived = await derive(chain, await chain.seal(DRAFTS, changes));
  assert.is(derived instanceof ChainRefusal ? derived.code : null, code);
}

function requireDerived(derived: ChainRefusal | DerivedBatch): DerivedBatch {
  if (derived instanceof ChainRefusal) throw derived;
  return derived;
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.run();
