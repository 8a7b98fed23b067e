import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_BATCH_RECORDS } from '../../../protocol/chain/envelope-rules.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { leafHash } from '../../../protocol/merkle/hash.ts';
import { makeRecord, openRecord, type WholeTexts } from '../../../protocol/chain/record.ts';
import type { PageItem } from '../../../node/federation/page-forms.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { groupOperations, groupTable } from '../../../node/records/record-tables.ts';
import { groupAnew } from '../../../node/log/group-anew.ts';
import { signAnew } from '../../../node/intake/sealing/sign-anew.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { certifyKey, seedOf, type TestKey } from '../../fixtures/federation-member.ts';
import { CHAIN_TABLES, fastFederation, rowsOf } from './member-fixture.ts';
import { assemblerOf, at, NINE, Rebuilding, signGroup, textsOf } from './rebuilding.ts';

/** A peer that is not the origin. */
const CA = nodeId('ca');

for (const isApart of [false, true]) {
  const where = isApart ? ', its groups checked apart' : '';
  test(`a valid chain is stored and is the origin’s, byte for byte${where}`, async () => {
    await using rebuilding = await Rebuilding.start();
    rebuilding.isApart = isApart;
    const sizes = [1, 9, 300, 2];
    for (const size of sizes) {
      await rebuilding.seal(
        Array.from({ length: size }, () => ({})),
        { groupSize: 130 },
      );
    }
    assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1 2 3 4');
    assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
    assert.equal(
      rebuilding.own.chains.head(rebuilding.origin.node),
      rebuilding.origin.chains.head(rebuilding.origin.node),
    );
  });
}

test('a page of what is held already brings nothing', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  assert.is(await rebuilding.take(page), 'batches 1');
  assert.equal(await rebuilding.page(), []);
  assert.is(await rebuilding.take(page), 'malformed');
});

test('a statement under a key that is not certified here is told apart from a forged one', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.federation.rotateKey('eu');
  await rebuilding.seal(NINE);
  assert.is(await rebuilding.take(await rebuilding.page()), 'unknown-key');
  assert.equal(await rebuilding.stored(), []);
  for (const certificate of rebuilding.federation.certificates) await rebuilding.own.keys.learnCertificate(certificate);
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1');
});

test('a page that was cut goes on where its last whole group ended', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  assert.is(await rebuilding.take(page.slice(0, at(page, 'records', 1))), 'batches');
  assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 4 });
  const rest = await rebuilding.page();
  assert.is(rest.filter((item) => item.kind === 'group').length, 2);
  assert.is(await rebuilding.take(rest), 'batches 1');
  assert.equal(await rebuilding.stored(), [1, 4, 7]);
});

test('a store opened again in the middle of a batch goes on from its whole groups', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  await rebuilding.take(page.slice(0, at(page, 'records', 4)));
  await rebuilding.reopen();
  assert.equal(rebuilding.assembler.wanted, { batch: 2, seq: 13 });
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 2');
  assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
});

test('a batch whose groups are all here is made whole by its envelope alone', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  const { store } = rebuilding.own;
  const write = store.write.bind(store);
  store.write = (operations) =>
    operations.some(({ key }) => key.startsWith('envelope/'))
      ? Promise.reject(new Error('the disk is full'))
      : write(operations);
  await rebuilding.take(page).catch(() => undefined);
  await rebuilding.reopen();
  assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 10 });
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1');
});

test('a copy that holds groups of later batches, and not their envelopes, is made whole', async () => {
  await using rebuilding = await Rebuilding.start();
  const batches = [await rebuilding.seal(NINE), await rebuilding.seal(NINE), await rebuilding.seal(NINE)];
  for (const group of batches.flatMap(({ groups }) => groups).slice(0, 5)) {
    await rebuilding.own.store.write(groupOperations(group));
  }
  await rebuilding.reopen();
  assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 16 });
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1 2 3');
  assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
});

test('a batch whose root is not that of its signed records is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  const root = writeSha256(leafHash(nativeSuite, utf8('another')));
  await rebuilding.seal(NINE, { envelope: { root } });
  assert.is(await rebuilding.take(await rebuilding.page()), 'contradiction');
  assert.is(rebuilding.own.chains.head(rebuilding.origin.node).batch, 0);
  assert.equal(await rebuilding.stored(), [1, 4, 7]);
});

test('a batch that does not follow the one held is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  const first = await rebuilding.seal(NINE);
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1');
  await rebuilding.seal(NINE, { envelope: { prev: first.envelope.root } });
  assert.is(await rebuilding.take(await rebuilding.page()), 'contradiction');
  assert.is(rebuilding.own.chains.head(rebuilding.origin.node).batch, 1);
});

test('a batch of more records than any member derives is its origin’s contradiction, before a group of it is taken', async () => {
  for (const [size, outcome, stored] of [
    [MAX_BATCH_RECORDS, 'batches', [1, 4, 7]],
    [MAX_BATCH_RECORDS + 1, 'contradiction', []],
  ] as const) {
    await using rebuilding = await Rebuilding.start();
    await rebuilding.seal(NINE, { envelope: { size } });
    assert.is(await rebuilding.take(await rebuilding.page()), outcome);
    assert.equal(await rebuilding.stored(), stored);
  }
});

test('where the log has decided a number, only the envelope that it decided is taken', async () => {
  await using rebuilding = await Rebuilding.start();
  const batch = await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  for (const [envelopeHash, outcome] of [
    [batch.envelope.root, 'undecidable'],
    [batch.hash, 'batches 1'],
  ] as const) {
    const decided = { envelopeOf: async () => envelopeHash, isRevoked: () => true };
    rebuilding.assembler = await assemblerOf(rebuilding.own, rebuilding.origin, decided);
    assert.is(await rebuilding.take(page), outcome);
  }
});

test('where it has not, one by a key whose revocation is in force is not taken, and one that only a node revoked is', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  await rebuilding.own.keys.learnRevocation(await rebuilding.federation.revokeKey('eu'));
  const page = await rebuilding.page();
  for (const isRevoked of [true, false]) {
    const decided = { envelopeOf: async () => undefined, isRevoked: () => isRevoked };
    rebuilding.assembler = await assemblerOf(rebuilding.own, rebuilding.origin, decided);
    assert.is(await rebuilding.take(page), isRevoked ? 'undecidable' : 'batches 1');
  }
});

test('a group that reaches past its batch is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE, { envelope: { size: 8 } });
  assert.is(await rebuilding.take(await rebuilding.page()), 'contradiction');
  assert.equal(await rebuilding.stored(), [1, 4]);
});

for (const isReopened of [false, true]) {
  const where = isReopened ? ', also after a crash' : '';
  test(`a batch that is signed anew while its pages come is asked for from its first record${where}`, async () => {
    await using rebuilding = await Rebuilding.start();
    await rebuilding.seal(NINE);
    await rebuilding.take(await rebuilding.page());
    await rebuilding.seal(NINE);
    const [old, anew] = [await rebuilding.page(), await signedAnew(rebuilding)];
    assert.is(await rebuilding.take(old.slice(0, at(old, 'records', 1))), 'batches');
    assert.equal(rebuilding.assembler.wanted, { batch: 2, seq: 13 });
    if (isReopened) await rebuilding.reopen();
    assert.is(await rebuilding.take(anew), 'batches', 'what is held is by another key');
    assert.equal(rebuilding.assembler.wanted, { batch: 2, seq: 10 });
    assert.equal(await rebuilding.stored(), [1, 4, 7]);
    assert.is(await rebuilding.take(await rebuilding.page()), 'batches 2');
    assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
  });
}

const LOST = Array.from({ length: 9 }, (_, i) => ({ payload: { lost: i } }));

for (const [what, size, groupSize, lost] of [
  ['of the same places', 9, 3, 2],
  ['of other places', 9, 4, 2],
  ['fewer', 4, 3, 2],
  ['of which all were held', 9, 3, 3],
] as const) {
  test(`of a restored node’s batch, others that were held before give way: groups ${what}`, async () => {
    await using rebuilding = await Rebuilding.start();
    const { own } = rebuilding;
    const before = await fastFederation(['eu', 'us']);
    for (const group of (await before.sealBatch('eu', LOST)).groups.slice(0, lost)) {
      await own.store.write(groupOperations(group));
    }
    await rebuilding.reopen();
    await rebuilding.seal(NINE.slice(0, size), { groupSize });
    assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 3 * lost + 1 });
    assert.is(await rebuilding.take(await rebuilding.page()), 'batches');
    assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 1 });
    assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1');
    assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
  });
}

for (const isApart of [false, true]) {
  const where = isApart ? ', checked apart' : '';
  test(`groups of a part that end within one that another peer holds give way to it${where}`, async () => {
    await using rebuilding = await Rebuilding.start();
    rebuilding.isApart = isApart;
    const part = await partOf(rebuilding, await rebuilding.seal(NINE, { groupSize: 9 }));
    assert.is(await rebuilding.take(part), 'batches');
    assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 4 });
    assert.is(await rebuilding.take(await rebuilding.page(), CA), 'batches');
    assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 1 });
    assert.is(await rebuilding.take(await rebuilding.page(), CA), 'batches 1');
    assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
  });
}

test('a peer that serves its groups of a batch in one cut and another has it begun again once, and another peer still', async () => {
  await using rebuilding = await Rebuilding.start();
  const part = await partOf(rebuilding, await rebuilding.seal(NINE, { groupSize: 9 }));
  const whole = await rebuilding.page();
  const taken: string[] = [];
  for (const page of [part, whole, part, whole]) taken.push(await rebuilding.take(page));
  assert.equal(taken, ['batches', 'batches', 'batches', 'malformed']);
  assert.equal([await rebuilding.take(whole, CA), await rebuilding.take(whole, CA)], ['batches', 'batches 1']);
});

test('a node that seals a batch of which no groups go with its envelope is asked for it once more, and then accused', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE, { envelope: { root: writeSha256(leafHash(nativeSuite, utf8('another'))) } });
  const page = await rebuilding.page();
  assert.is(await rebuilding.take(page.slice(0, at(page, 'records', 1))), 'batches');
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches');
  assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 1 });
  assert.is(await rebuilding.take(await rebuilding.page()), 'contradiction');
});

test('a batch that comes under two keys by turns is not asked for over and over', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const old = await rebuilding.page();
  const anew = await signedAnew(rebuilding);
  const begun = (page: PageItem[]) => page.slice(0, at(page, 'records', 1));
  assert.equal([await rebuilding.take(begun(old)), await rebuilding.take(begun(anew))], ['batches', 'batches']);
  assert.equal([await rebuilding.take(begun(old)), await rebuilding.take(begun(anew))], ['batches', 'undecidable']);
});

test('a batch that its node is signing anew is served to nobody', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const { store, node } = rebuilding.origin;
  const held = await groupTable.get(store, node, 4);
  const group = held && (await groupAnew(held, (await anotherKey(rebuilding)).signer));
  if (group === undefined || group === null) return assert.unreachable();
  await store.write([groupTable.put([node, 4], group.signed)]);
  assert.equal(
    (await rebuilding.page()).map(({ kind }) => kind),
    ['envelope', 'group', 'records'],
  );
});

test('a second signed group over records that are held is not taken', async () => {
  await using rebuilding = await Rebuilding.start();
  const batch = await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  await rebuilding.take(page.slice(0, at(page, 'records', 1)));
  const records = textsOf(batch).slice(0, 3);
  const group: PageItem = { kind: 'group', signed: await signGroup(rebuilding.federation, 1, records) };
  assert.is(await rebuilding.take([...page.slice(0, 1), group, { kind: 'records', records }]), 'malformed');
  assert.equal(await rebuilding.stored(), [1]);
});

test('a record id that is given twice is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  const batch = await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  const [first] = batch.records;
  if (first === undefined) throw new Error('no record');
  const { id } = first.record;
  const renamed = (texts: WholeTexts) => makeRecord(nativeSuite, { ...openRecord(nativeSuite, texts), id }).texts;
  const later = textsOf(batch).slice(3, 6).map(renamed);
  const signed = await signGroup(rebuilding.federation, 4, later);
  const hostile = [
    ...page.slice(0, 3),
    { kind: 'group', signed } as const,
    { kind: 'records', records: later } as const,
  ];
  assert.is(await rebuilding.take(hostile), 'contradiction');
  assert.equal(await rebuilding.stored(), [1]);
});

test('a record id twice in one group, in two groups of a page, or in groups of two pages, is its origin’s contradiction', async () => {
  for (const [first, twice, stored] of [
    [1, [1, 0], []],
    [4, [3, 0], [1]],
  ] as const) {
    for (const isApart of first === 1 ? [false] : [false, true]) {
      await using rebuilding = await Rebuilding.start();
      const batch = await rebuilding.seal(NINE);
      const page = await rebuilding.page();
      const [renamed, taken] = twice;
      const id = batch.records[taken]?.record.id;
      if (id === undefined) throw new Error('no record');
      const records = textsOf(batch).map((texts, i) => {
        return i === renamed ? makeRecord(nativeSuite, { ...openRecord(nativeSuite, texts), id }).texts : texts;
      });
      const group = records.slice(first - 1, first + 2);
      const signed = await signGroup(rebuilding.federation, first, group);
      const hostile = [{ kind: 'group', signed } as const, { kind: 'records', records: group } as const];
      const before = page.slice(0, first === 1 ? 1 : 3);
      if (isApart) assert.is(await rebuilding.take(before), 'batches');
      assert.is(await rebuilding.take([...(isApart ? page.slice(0, 1) : before), ...hostile]), 'contradiction');
      assert.equal(await rebuilding.stored(), stored);
    }
  }
});

test.run();

/** A page of the batch's envelope and its first three records, in a group of their own that the origin signed. */
async function partOf({ federation }: Rebuilding, batch: TestBatch): Promise<PageItem[]> {
  const records = textsOf(batch).slice(0, 3);
  return [
    { kind: 'envelope', signed: batch.signed },
    { kind: 'group', signed: await signGroup(federation, batch.envelope.first, records) },
    { kind: 'records', records },
  ];
}

/** A further key of the origin, that both know. */
async function anotherKey({ federation, own, origin }: Rebuilding): Promise<TestKey> {
  const { node, identity } = federation.member('eu');
  const terms = { validFrom: federation.tick(), seqFrom: 1 };
  const key = await certifyKey(node, identity, nativeSigner(seedOf('another')), terms);
  for (const { keys } of [own, origin]) await keys.learnCertificate(key.signed);
  return key;
}

/** The page of what is wanted, once the origin has signed its last batch again by another key. */
async function signedAnew(rebuilding: Rebuilding): Promise<PageItem[]> {
  const { origin, federation } = rebuilding;
  const old = federation.member('eu').key.signer.keyId;
  await signAnew({
    store: origin.store,
    node: origin.node,
    decided: origin.chains.head(origin.node).batch - 1,
    signer: (await anotherKey(rebuilding)).signer,
    isRevoked: (keyId) => keyId === old,
    requireRunning: () => {},
    withdraw: async () => {},
    besides: () => [],
  });
  return rebuilding.page();
}
