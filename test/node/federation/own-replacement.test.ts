import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { OwnChainEvidence } from '../../../node/federation/own-chain.ts';
import { decodeItem, encodeItem } from '../../../node/federation/page-forms.ts';
import { groupTable } from '../../../node/records/record-tables.ts';
import type { StoredBatch } from '../../../node/records/batch-tables.ts';
import { signAnew } from '../../../node/intake/sealing/sign-anew.ts';
import type { Operation } from '../../../node/store/operation.ts';
import type { Store } from '../../../node/store/store.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { hashText } from '../../../protocol/hash.ts';
import { type Group, groupStatement } from '../../../protocol/statement/group.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { seedOf } from '../../fixtures/federation-member.ts';
import { until } from '../../fixtures/until.ts';
import { rowsOf } from './member-fixture.ts';
import { batchIn, EU, OwnTail } from './own-tail.ts';

const FOREVER = new AbortController().signal;
const bothAnswered = ({ answered }: OwnChainEvidence): boolean => answered.size === 2;

/** The envelope with other members, signed. */
async function signed(batch: StoredBatch, change: Partial<Envelope>, signer: Signer): Promise<StoredBatch> {
  const envelope = { ...batch.envelope, ...change, keyId: signer.keyId };
  return { envelope, signed: await signStatement(envelopeStatement, envelope, signer) };
}

/** Notes what each write of a store writes. */
function watched(store: Store, onWrite: (operations: readonly Operation[]) => void): void {
  const write = store.write.bind(store);
  store.write = async (operations) => {
    onWrite(operations);
    await write(operations);
  };
}

function hasEnvelope(operations: readonly Operation[]): boolean {
  return operations.some(({ key }) => key.startsWith('envelope/'));
}

test('own batches that were signed anew and decided are taken over, with their receipts and what is behind them', async () => {
  await using tail = await OwnTail.create();
  await tail.decide('us', 2, 3, 4);
  const steps: string[] = [];
  const counted: number[] = [];
  const eu = await tail.open({
    outbox: { withdraw: async (from) => void steps.push(`withdraw ${from}`), resume: () => void steps.push('resume') },
    besidesOwn: {
      group: async (records) => {
        counted.push(...records.map(({ record }) => record.seq));
        return [];
      },
      batch: ({ envelope }) => [{ type: 'put', key: `beside/${envelope.batch}`, value: Uint8Array.of(1) }],
      onWritten: () => steps.push('written'),
    },
  });
  watched(eu.store, (operations) => {
    const beside = operations.filter(({ key }) => key.startsWith('beside/')).length;
    if (hasEnvelope(operations)) steps.push(`write with ${beside}`);
  });
  assert.is(await eu.federation.recoverOwnChain(FOREVER, bothAnswered), 3);
  assert.equal(await tail.rows('eu'), await tail.rows('us'));
  assert.equal(steps, ['withdraw 2', 'write with 2', 'resume', 'write with 1']);
  // Of records that it holds nothing is derived a second time.
  assert.equal(counted, []);
  assert.is(eu.chains.head(EU).batch, 4);
  assert.equal([eu.federation.halted, tail.halts, eu.equivocations.all()], [null, [], []]);
});

test('so are those that the log may decide yet, where the key of the held ones is revoked', async () => {
  await using tail = await OwnTail.create();
  const eu = await tail.open();
  assert.is(await eu.federation.recoverOwnChain(FOREVER, bothAnswered), 3);
  assert.equal(await tail.rows('eu'), await tail.rows('us'));
  assert.is(eu.federation.halted, null);
});

test('what is held stays where nobody has it signed anew, and where that is by a revoked key itself', async () => {
  for (const isKnown of [false, true]) {
    await using tail = await OwnTail.create();
    if (isKnown) tail.revoked.add(tail.key.signer.keyId);
    else for (const name of ['us', 'jp']) await tail.network.stop(name);
    const eu = await tail.open();
    const before = await tail.rows('eu');
    assert.is(await eu.federation.recoverOwnChain(FOREVER, ({ answered }) => !isKnown || answered.size === 2), 0);
    assert.equal([await tail.rows('eu'), eu.federation.halted], [before, null]);
  }
});

test('what follows the decided batches, and nobody has signed anew, is left for the node to sign', async () => {
  await using tail = await OwnTail.create();
  await tail.decide('us', 2);
  for (const name of ['us', 'jp']) {
    const { store, chains } = tail.network.memberFixture(name);
    await store.write([3, 4].map((batch) => ({ type: 'del', key: `envelope/eu/${String(batch).padStart(16, '0')}` })));
    chains.rewind(EU, await batchIn(store, 2));
  }
  const eu = await tail.open();
  assert.is(await eu.federation.recoverOwnChain(FOREVER, bothAnswered), 1);
  const second = await batchIn(eu.store, 2);
  assert.is(second.envelope.keyId, tail.key.signer.keyId);
  assert.is((await batchIn(eu.store, 3)).envelope.keyId, tail.old.signer.keyId);
  await signAnew({ store: eu.store, ...tail.signing, decided: 2 });
  const third = await batchIn(eu.store, 3);
  assert.equal(
    [third.envelope.keyId, third.envelope.prev],
    [tail.key.signer.keyId, hashText(nativeSuite, second.signed.statement)],
  );
});

test('before the log was read, a next batch that does not follow the held one is no fork', async () => {
  await using tail = await OwnTail.create();
  const revoked = [...tail.revoked];
  tail.revoked.clear();
  let looks = 0;
  const eu = await tail.open();
  const recovering = eu.federation.recoverOwnChain(FOREVER, async (evidence) => {
    // As where the topic's end is read only then.
    if (++looks === 8) {
      for (const keyId of revoked) tail.revoked.add(keyId);
      await tail.decide('us', 2, 3, 4);
    }
    return looks > 8 && bothAnswered(evidence);
  });
  assert.is(await recovering, 3);
  assert.equal([await tail.rows('eu'), tail.halts], [await tail.rows('us'), []]);
});

test('once it was, it is one', async () => {
  await using tail = await OwnTail.create();
  tail.revoked.clear();
  const eu = await tail.open();
  const before = await tail.rows('eu');
  await eu.federation.recoverOwnChain(FOREVER, bothAnswered);
  await until('the halt', () => eu.federation.halted !== null);
  assert.equal([tail.halts, await tail.rows('eu')], [['forked'], before]);
});

test('another batch than the held one, of whatever records and times, ends the chain as it always did', async () => {
  for (const [isDecided, halt] of [
    [true, 'closed'],
    [false, 'forked'],
  ] as const) {
    const changes: Partial<Envelope>[] = [
      { size: 5 },
      { root: hashText(nativeSuite, 'other') },
      { sealedAt: timestampOf(0) },
    ];
    for (const change of changes) {
      await using tail = await OwnTail.create();
      for (const name of ['us', 'jp']) {
        const anew = await batchIn(tail.network.memberFixture(name).store, 2);
        await tail.put(name, await signed(anew, change, tail.key.signer));
      }
      if (isDecided) await tail.decide('us', 2);
      const eu = await tail.open();
      const before = await tail.rows('eu');
      await eu.federation.recoverOwnChain(FOREVER, bothAnswered);
      await until('the halt', () => tail.halts.includes(halt));
      assert.equal([tail.halts.at(-1), await tail.rows('eu')], [halt, before]);
    }
  }
});

test('an envelope that a stranger signed replaces nothing, whatever was decided', async () => {
  await using tail = await OwnTail.create();
  const stranger = nativeSigner(seedOf('stranger'));
  for (const name of ['us', 'jp']) {
    const anew = await batchIn(tail.network.memberFixture(name).store, 2);
    await tail.put(name, await signed(anew, {}, stranger));
  }
  await tail.decide('us', 2);
  const eu = await tail.open();
  const before = await tail.rows('eu');
  const given = new AbortController();
  let looks = 0;
  const recovering = eu.federation.recoverOwnChain(given.signal, ({ held }) => {
    assert.is(held, 1, 'it is said that the second one is lacking');
    if (++looks > 3) given.abort();
    return true;
  });
  await recovering.then(
    () => assert.unreachable(),
    () => assert.ok(given.signal.aborted),
  );
  assert.equal([await tail.rows('eu'), tail.halts], [before, []]);
});

/** Serves the receipts that the revoked key signed under the envelopes that were decided. */
function serveOldReceipts(tail: OwnTail, name: string): void {
  const old = new Map(
    tail.batches.flatMap(({ groups }) => groups.map(({ group, signed: held }) => [group.first, held])),
  );
  tail.network.wire.distortions.set(name, async function* (frames) {
    for await (const frame of frames) {
      const item = decodeItem(frame);
      const held = item.kind === 'group' ? old.get(groupStatement.parse(item.signed.statement).first) : undefined;
      yield held === undefined ? frame : encodeItem({ kind: 'group', signed: held });
    }
  });
}

test('a member that serves receipts by another key than the batch’s is told apart, and passed over for one that does not', async () => {
  await using tail = await OwnTail.create();
  await tail.decide('us', 2, 3, 4);
  serveOldReceipts(tail, 'us');
  const eu = await tail.open();
  assert.is(await eu.federation.recoverOwnChain(FOREVER, bothAnswered), 3);
  assert.equal([await tail.rows('eu'), eu.federation.halted], [await tail.rows('jp'), null]);
  const faults = eu.federation.faults.all().map(({ peer, fault }) => [peer, fault]);
  assert.equal(faults, tail.network.wire.pages.some(({ to }) => to === 'us') ? [['us', 'malformed']] : []);
});

test('where all members serve such, nothing is taken and nothing is signed', async () => {
  await using tail = await OwnTail.create();
  await tail.decide('us', 2, 3, 4);
  for (const name of ['us', 'jp']) serveOldReceipts(tail, name);
  const eu = await tail.open();
  const before = await tail.rows('eu');
  const given = new AbortController();
  const recovering = eu.federation.recoverOwnChain(given.signal, bothAnswered);
  await until('both to be told apart', () => eu.federation.faults.all().length === 2);
  given.abort();
  await recovering.then(
    () => assert.unreachable(),
    () => assert.ok(given.signal.aborted),
  );
  assert.equal([await tail.rows('eu'), tail.halts], [before, []]);
});

test('a receipt of other records, under the node’s own key, is a second story and replaces none', async () => {
  for (const [number, halt] of [
    [2, 'closed'],
    [4, 'forked'],
  ] as const) {
    await using tail = await OwnTail.create();
    await tail.decide('us', 2, 3, 4);
    const first = tail.batches[number - 1]?.groups[0]?.group;
    if (first === undefined) return assert.unreachable();
    const group: Group = { ...first, signedAt: tail.network.federation.tick(), keyId: tail.key.signer.keyId };
    const other = await signStatement(groupStatement, group, tail.key.signer);
    for (const name of ['us', 'jp']) {
      await tail.network.memberFixture(name).store.write([groupTable.put([EU, group.first], other)]);
    }
    const eu = await tail.open();
    const before = await bodies(eu.store);
    await eu.federation.recoverOwnChain(FOREVER, bothAnswered);
    await until('the halt', () => tail.halts.length > 0);
    assert.equal([tail.halts, await bodies(eu.store)], [[halt], before]);
    assert.is.not((await groupTable.get(eu.store, EU, group.first))?.statement, other.statement);
  }
});

test('batches that come in pages of one receipt each are taken over all the same', async () => {
  await using tail = await OwnTail.create();
  await tail.decide('us', 2, 3, 4);
  for (const name of ['us', 'jp']) {
    tail.network.wire.distortions.set(name, async function* (frames, { want }) {
      let groups = 0;
      for await (const frame of frames) {
        if (want === 'chain' && decodeItem(frame).kind === 'group' && ++groups > 1) return;
        yield frame;
      }
    });
  }
  const eu = await tail.open();
  assert.is(await eu.federation.recoverOwnChain(FOREVER, bothAnswered), 3);
  assert.equal(await tail.rows('eu'), await tail.rows('us'));
});

test('a page that lies ends nothing: the next member is asked', async () => {
  await using tail = await OwnTail.create();
  await tail.decide('us', 2, 3, 4);
  tail.network.wire.distortions.set('us', async function* (frames, { want }) {
    for await (const frame of frames) {
      const item = decodeItem(frame);
      const isForged = want === 'chain' && item.kind === 'group';
      yield isForged
        ? encodeItem({ ...item, signed: { ...item.signed, signature: tail.old.signed.signature } })
        : frame;
    }
  });
  const eu = await tail.open();
  assert.is(await eu.federation.recoverOwnChain(FOREVER, bothAnswered), 3);
  assert.equal([await tail.rows('eu'), tail.halts], [await tail.rows('jp'), []]);
});

test('a crash at any write leaves the chain that was or the chain that is, every record, and a start that goes on', async () => {
  for (let at = 1, isOver = false; !isOver; at++) {
    await using tail = await OwnTail.create();
    await tail.decide('us', 2, 3, 4);
    const eu = await tail.open();
    const before = await tail.rows('eu');
    const kept = await bodies(eu.store);
    let writes = 0;
    const dying = new AbortController();
    watched(eu.store, () => {
      if (++writes < at) return;
      dying.abort();
      throw new Error('the process is gone');
    });
    await eu.federation.recoverOwnChain(dying.signal, bothAnswered).catch(() => undefined);
    isOver = writes < at;
    await tail.network.stop('eu');
    const again = await tail.open();
    if (!isOver) {
      const left = await tail.rows('eu');
      const numbers = [2, 3].map((batch) => `envelope/eu/${String(batch).padStart(16, '0')}`);
      const isOld = numbers.map((key) => left.get(key) === before.get(key));
      assert.is(new Set(isOld).size, 1, 'one chain or the other');
      for (const [key, value] of kept) assert.is(left.get(key), value);
    }
    await again.federation.recoverOwnChain(FOREVER, bothAnswered);
    assert.equal([await tail.rows('eu'), tail.halts], [await tail.rows('us'), []]);
  }
});

test.run();

/** The records, to the byte. */
function bodies(store: Store): Promise<Map<string, string>> {
  return rowsOf(store, ['body', 'record']);
}
