import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { storedGroups } from '../../../../node/log/stored-chain.ts';
import { readBatchOf } from '../../../../node/records/batch-tables.ts';
import { readRecordTexts, RecordDamagedError } from '../../../../node/records/record-reader.ts';
import { bodyTable, groupOperations, groupTable, recordIndex } from '../../../../node/records/record-tables.ts';
import { newRecordId } from '../../../../node/records/record-id.ts';
import type { Operation } from '../../../../node/store/operation.ts';
import type { Store } from '../../../../node/store/store.ts';
import { readBatchPath } from '../../../../node/verification/evidence.ts';
import { ProofTrees } from '../../../../node/verification/proof-trees.ts';
import { type AttestationRecord, makeRecord, readHead, recordLeaf } from '../../../../protocol/chain/record.ts';
import { hashText, writeSha256 } from '../../../../protocol/hash.ts';
import { rootFromPath } from '../../../../protocol/merkle/inclusion.ts';
import { type Group, groupStatement } from '../../../../protocol/statement/group.ts';
import { signatureHolds, signStatement } from '../../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { until } from '../../../fixtures/until.ts';
import { rowsOf } from '../../federation/member-fixture.ts';
import { draftOf, NODE, signer, temporaryDirectory } from '../intake-fixture.ts';
import { other } from './anew-fixture.ts';
import { BESIDE_KEY, requireChain, SealingFixture } from './sealing-fixture.ts';
import { MADE_RECORD_BYTES, MAX_MADE_BYTES, OpenBatch } from '../../../../node/intake/sealing/open-batch.ts';

const HASH = hashText(nativeSuite, 'invented');

test('a batch is sealed when its interval is over, and none where nothing waits', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path, { intervalMs: 60 });
  await fixture.record(2);
  const started = performance.now();
  await until('a batch', () => fixture.sealed.length === 1);
  assert.ok(performance.now() - started >= 50);
  await pause(150);
  assert.is(fixture.sealed.length, 1);
  await fixture.record(1);
  await until('the second batch', () => fixture.sealed.length === 2);
  assert.equal(
    (await requireChain(fixture.store)).map(({ size }) => size),
    [2, 1],
  );
});

test('a full batch is sealed at once, and no batch splits a group', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path, { maxRecords: 10 });
  for (const size of [4, 4, 4, 6, 25, 1, 10]) await fixture.record(size);
  await fixture.sealer.seal();
  assert.equal(
    (await requireChain(fixture.store)).map(({ size }) => size),
    [8, 10, 25, 1, 10],
  );
  assert.is(fixture.sealer.waiting, 0);
});

test('a chain that the log names while the store is read again begins', async () => {
  await using directory = await temporaryDirectory();
  let asked = 0;
  // Not when it is opened, nor when it is read again; just after that.
  const chainStart = async () => (++asked > 2 ? timestampOf(0) : null);
  await using fixture = await SealingFixture.open(directory.path, { chainStart });
  assert.is(fixture.sealer.leastFrom, null);
  await fixture.sealer.reload();
  assert.is.not(fixture.sealer.leastFrom, null);
});

test('a batch lands in one write with what must land beside it', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  await fixture.record(3);
  const before = fixture.store.writes;
  await fixture.sealer.seal();
  assert.is(fixture.store.writes, before + 1);
  assert.is(Buffer.from((await fixture.store.get(BESIDE_KEY)) ?? []).toString(), '1');
});

test('a batch that the node made since its start is sealed without reading its records back', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  for (const size of [1, 64, 65, 130, 300]) await fixture.record(size);
  const read = readTables(fixture.store);
  await fixture.sealer.seal();
  assert.is((await requireChain(fixture.store))[0]?.size, 560);
  assert.equal(
    [...read].filter((table) => table === bodyTable.name || table === groupTable.name),
    [],
  );
  await requireProofs(fixture, 1, 560);
});

test('a batch that is found at the start is walked by its records as they are stored', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await SealingFixture.open(directory.path);
    for (const size of [1, 64, 65, 130, 300]) await fixture.record(size);
  }
  await using fixture = await SealingFixture.open(directory.path);
  await fixture.record(1);
  const read = readTables(fixture.store);
  await fixture.sealer.seal();
  assert.is((await requireChain(fixture.store))[0]?.size, 561);
  assert.equal([read.has(bodyTable.name), read.has(recordIndex.name)], [true, false], 'ids are not looked for');
  const groups = await Array.fromAsync(storedGroups(fixture.store, { node: NODE, first: 2, size: 129 }));
  assert.equal(
    groups.map(({ records }) => records.map(({ head }) => readHead(head).seq)),
    [range(2, 65), range(66, 130)],
  );
  const cut = await Array.fromAsync(storedGroups(fixture.store, { node: NODE, first: 1, size: 70 }));
  assert.equal(
    cut.map(({ records }) => records.length),
    [1, 64, 5],
  );
});

test('a batch holds so many made groups and no more: of one that is larger all are read back', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  const open = new OpenBatch(1);
  const most = Math.floor(MAX_MADE_BYTES / MADE_RECORD_BYTES);
  const [built] = await fixture.intake.submitAll([draftOf('s', { n: 1 })]);
  if (built === undefined) throw new RangeError('no record');
  const [signed] = await Array.fromAsync(groupTable.under(fixture.store, [NODE]), ([, each]) => each);
  if (signed === undefined) throw new RangeError('no group');
  const group = { group: groupStatement.parse(signed.statement), signed, records: Array(most / 8).fill(built) };
  for (let i = 0; i < 7; i++) open.add(group);
  assert.is(open.made?.length, 7);
  const leaves = (open.made ?? []).flatMap(({ made }) => made.map(({ leaf }) => leaf.buffer.byteLength));
  assert.equal([...new Set(leaves)], [32], 'no leaf keeps memory of others');
  open.add(group);
  assert.is(open.made, null);
  open.add(group);
  assert.equal([open.made, open.tree.size], [null, (9 * most) / 8]);
});

test('records that were not sealed when the node ended are sealed by the next start, once', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await SealingFixture.open(directory.path);
    await fixture.record(3);
    await fixture.sealer.seal();
    await fixture.record(70);
    await fixture.record(5);
  }
  await using fixture = await SealingFixture.open(directory.path, { intervalMs: 50 });
  assert.is(fixture.sealer.waiting, 75);
  await until('a batch', () => fixture.sealed.length === 1);
  await fixture.record(1);
  await fixture.sealer.seal();
  assert.equal(
    (await requireChain(fixture.store)).map(({ size }) => size),
    [3, 75, 1],
  );
});

test('a recovered batch proves its records like any other', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await SealingFixture.open(directory.path);
    for (let i = 0; i < 40; i++) await fixture.record(i % 9 === 0 ? 20 : 1);
  }
  await using fixture = await SealingFixture.open(directory.path);
  await fixture.sealer.seal();
  await requireProofs(fixture, 1, 135);
});

test('where the node ends while a batch is refused, those behind it wait for the next start too', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await SealingFixture.open(directory.path);
    const { store } = fixture;
    const write = store.write.bind(store);
    let refusals = 0;
    store.write = (operations) => {
      const isRefused = operations.some(({ key }) => key === BESIDE_KEY) && refusals++ === 0;
      // The node ends while the disk refuses the first one.
      if (isRefused) void fixture.sealer[Symbol.asyncDispose]();
      return isRefused ? Promise.reject(new Error('the disk refused')) : write(operations);
    };
    await fixture.record(2);
    void fixture.sealer.seal();
    await fixture.record(3);
    await fixture.sealer.seal();
    assert.equal([refusals, fixture.refused, await requireChain(store)], [1, [], []]);
  }
  await using fixture = await SealingFixture.open(directory.path);
  await fixture.sealer.seal();
  assert.equal(
    (await requireChain(fixture.store)).map(({ size }) => size),
    [5],
  );
});

test('a sealer that is halted finishes the write that is under way, and seals nothing that waits behind it', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  const { store } = fixture;
  const write = store.write.bind(store);
  store.write = (operations) => {
    if (operations.some(({ key }) => key === BESIDE_KEY)) fixture.sealer.halt();
    return write(operations);
  };
  await fixture.record(2);
  const first = fixture.sealer.seal();
  await fixture.record(3);
  await Promise.all([first, fixture.sealer.seal()]);
  assert.equal(
    (await requireChain(store)).map(({ size }) => size),
    [2],
  );
  assert.is(fixture.sealer.waiting, 3);
});

test('a refused batch is tried again, and those behind it wait', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  fixture.refusals = 2;
  await fixture.record(2);
  const first = fixture.sealer.seal();
  await fixture.record(3);
  const second = fixture.sealer.seal();
  assert.is(fixture.sealed.length, 0);
  await Promise.all([first, second]);
  assert.equal(
    (await requireChain(fixture.store)).map(({ size }) => size),
    [2, 3],
  );
});

test('a node that ends while its batch is refused ends soon, and seals it at the next start', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await SealingFixture.open(directory.path);
    fixture.refusals = Number.POSITIVE_INFINITY;
    await fixture.record(2);
    void fixture.sealer.seal();
    await fixture.record(3);
    void fixture.sealer.seal();
    await pause(20);
    const started = performance.now();
    await fixture.sealer[Symbol.asyncDispose]();
    assert.ok(performance.now() - started < 5_000);
  }
  await using fixture = await SealingFixture.open(directory.path);
  assert.is(fixture.sealer.waiting, 5);
  await fixture.sealer.seal();
  assert.equal(
    (await requireChain(fixture.store)).map(({ size }) => size),
    [5],
  );
});

test('a batch that a new key seals is by that key alone, of the same records, in one write', async () => {
  await using directory = await temporaryDirectory();
  let key = signer;
  const publicKeyOf = (keyId: string) => [signer, other].find((one) => one.keyId === keyId)?.publicKey;
  await using fixture = await SealingFixture.open(directory.path, { signer: () => key, publicKeyOf });
  await fixture.record(3);
  await fixture.sealer.seal();
  for (const size of [70, 1]) await fixture.record(size);
  key = other;
  await fixture.record(2);
  const [before, texts] = [await groupsIn(fixture.store), await rowsOf(fixture.store, ['body', 'record'])];
  const isOther = (groups: readonly Group[]) => groups.map(({ keyId }) => keyId === other.keyId);
  assert.equal(isOther(before), [false, false, false, true]);
  const { writes } = fixture.store;
  fixture.refusals = 1;
  const sealing = fixture.sealer.seal();
  await until('the write that is refused', () => fixture.refusals < 1);
  assert.equal(await groupsIn(fixture.store), before, 'a seal that did not come about leaves the receipts');
  await sealing;
  assert.equal(
    [fixture.store.writes - writes, fixture.sealed.map(({ envelope }) => envelope.keyId)],
    [1, [signer.keyId, other.keyId]],
  );
  const after = await groupsIn(fixture.store);
  assert.equal(isOther(after), [false, true, true, true], 'what is sealed already stays');
  const content = (groups: readonly Group[]) => groups.map((group) => ({ ...group, keyId: null }));
  assert.equal([content(after), await rowsOf(fixture.store, ['body', 'record'])], [content(before), texts]);
  await requireProofs(fixture, 1, 76);
});

for (const [what, code, change] of [
  ['skips a number of its source', 'source-skipped', { sourceSeq: 2, sourcePrev: HASH }],
  ['invents the record before it', 'source-prev-mismatch', { sourceId: 's', sourceSeq: 4, sourcePrev: HASH }],
  ['is dated before its group', 'submitted-outside-batch', { submittedAt: timestampOf(Date.UTC(2020, 0, 1)) }],
  ['is dated after its group', 'submitted-outside-batch', { submittedAt: timestampOf(Date.UTC(2031, 0, 1)) }],
] as const) {
  test(`a node seals no record of its own that ${what}, and nothing after it`, async () => {
    await using directory = await temporaryDirectory();
    {
      await using fixture = await SealingFixture.open(directory.path);
      await fixture.record(3);
      await fixture.sealer.seal();
      await fixture.store.write(await signedGroup(4, change));
    }
    await using fixture = await SealingFixture.open(directory.path);
    await fixture.sealer.seal();
    assert.equal(
      fixture.refused.map((refusal) => [refusal.code, refusal.seq]),
      [[code, 4]],
    );
    assert.is(fixture.sealer.refusal?.code, code);
    assert.is((await requireChain(fixture.store)).length, 1);
  });
}

test('every record of a batch is proved by its tiles', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  for (const size of [1, 256, 300, 1, 2]) await fixture.record(size);
  await fixture.sealer.seal();
  await requireProofs(fixture, 1, 560);
  assert.is(await readBatchOf(fixture.store, NODE, 561), undefined);
});

for (const [half, from, to] of [
  ['head', '"seq":2', '"seq":7'],
  ['body', '"sourceSeq":2', '"sourceSeq":7'],
] as const) {
  test(`a record whose ${half} changed on the disk is never sealed: the node refuses to start`, async () => {
    await using directory = await temporaryDirectory();
    {
      await using fixture = await SealingFixture.open(directory.path);
      await fixture.record(3);
      const body = await bodyTable.get(fixture.store, NODE, 1);
      const changed = body?.replace(from, to);
      assert.is.not(changed, body);
      await fixture.store.write([bodyTable.put([NODE, 1], changed ?? '')]);
    }
    const error: unknown = await SealingFixture.open(directory.path).catch((thrown: unknown) => thrown);
    assert.instance(error, RecordDamagedError);
    assert.match(String(error), '1–3');
  });
}

/** Tables that are read from here on, by their names. */
function readTables(store: Store): ReadonlySet<string> {
  const read = new Set<string>();
  const note = (key: string | undefined) => void read.add(key?.split('/')[0] ?? '');
  const { get, getMany, range: rangeOf } = store;
  store.get = (key) => {
    note(key);
    return get.call(store, key);
  };
  store.getMany = (keys) => {
    for (const key of keys) note(key);
    return getMany.call(store, keys);
  };
  store.range = (options) => {
    note(options.gte ?? options.gt ?? options.lte ?? options.lt);
    return rangeOf.call(store, options);
  };
  return read;
}

/** The groups of a store. Fails unless each is signed by the key that it names. */
async function groupsIn(store: Store): Promise<Group[]> {
  const groups: Group[] = [];
  for await (const [, signed] of groupTable.under(store, [NODE])) {
    const group = groupStatement.parse(signed.statement);
    const { publicKey } = group.keyId === other.keyId ? other : signer;
    assert.ok(signatureHolds(nativeSuite, groupStatement, signed, publicKey));
    groups.push(group);
  }
  return groups;
}

/** Rows of a group of one record, under the node's own signature. */
async function signedGroup(seq: number, change: Partial<AttestationRecord>): Promise<Operation[]> {
  const at = timestampOf(Date.now());
  const written = makeRecord(nativeSuite, {
    account: 'acme',
    claims: { channel: 'direct' },
    id: newRecordId(NODE, Date.now()),
    kind: 'decision',
    links: {},
    node: NODE,
    payloadHash: HASH,
    seq,
    sourceId: 'other',
    sourcePrev: null,
    sourceSeq: 1,
    submittedAt: at,
    ...change,
  });
  const root = writeSha256(recordLeaf(nativeSuite, written.texts.head));
  const group: Group = {
    v: 1,
    type: 'group',
    node: NODE,
    first: seq,
    size: 1,
    root,
    keyId: signer.keyId,
    signedAt: at,
  };
  const signed = await signStatement(groupStatement, group, signer);
  return groupOperations({ group, signed, records: [written] });
}

/** Fails unless the path that the store gives for each of these records leads from its text to the batch's root. */
async function requireProofs(fixture: SealingFixture, first: number, last: number): Promise<void> {
  const trees = new ProofTrees();
  let seq = first;
  for await (const { head } of readRecordTexts(fixture.store, NODE, first, last - first + 1)) {
    const batch = await readBatchOf(fixture.store, NODE, seq);
    if (batch === undefined) throw new Error(`record ${seq} is not sealed`);
    const { envelope } = batch;
    const path = await readBatchPath({ store: fixture.store, trees }, envelope, seq);
    const leaf = recordLeaf(nativeSuite, head);
    const root = rootFromPath(nativeSuite, leaf, seq - envelope.first, envelope.size, path);
    assert.is(root && writeSha256(root), envelope.root, `record ${seq}`);
    seq++;
  }
  assert.is(seq, last + 1);
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

test.run();
