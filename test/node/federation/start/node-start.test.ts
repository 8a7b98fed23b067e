import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LEDGER_LIMIT_MS, NodeStart, OwnNames, StartMarks } from '../../../../node/federation/start/node-start.ts';
import { decodeItem } from '../../../../node/federation/page-forms.ts';
import { Intake } from '../../../../node/intake/intake.ts';
import { recordTime } from '../../../../node/intake/record-time.ts';
import { Sealer } from '../../../../node/intake/sealing/sealer.ts';
import { startTable } from '../../../../node/log/start-tables.ts';
import { RecordCounters } from '../../../../node/records/record-counters.ts';
import { groupTable } from '../../../../node/records/record-tables.ts';
import { readHead } from '../../../../node/records/batch-tables.ts';
import type { Store } from '../../../../node/store/store.ts';
import { TransportError } from '../../../../node/transport/errors.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { groupStatement } from '../../../../protocol/statement/group.ts';
import type { Signer } from '../../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { cipher, draftOf } from '../../intake/intake-fixture.ts';
import { silent, storeBatch, type MemberFixture } from '../member-fixture.ts';
import { MemberNetwork } from '../member-network.ts';

const EU = nodeId('eu');
const NEVER_MS = 3_600_000;
const FOREVER = new AbortController().signal;

/** First record and size of each own group in the store. */
async function groupsOf(store: Store): Promise<readonly (readonly [number, number])[]> {
  const places: [number, number][] = [];
  for await (const [, { statement }] of groupTable.under(store, [EU])) {
    const { first, size } = groupStatement.parse(statement);
    places.push([first, size]);
  }
  return places;
}

/** Intake and sealer of a member, as its process opens them. */
async function recordingParts(store: Store, signer: Signer, stack: AsyncDisposableStack) {
  const sealer = stack.use(
    await Sealer.open({
      node: EU,
      store,
      signer: () => signer,
      now: Date.now,
      intervalMs: NEVER_MS,
      chainStart: async () => timestampOf(0),
      decisionOf: async () => undefined,
      publicKeyOf: () => signer.publicKey,
      onRefused: (refusal) => assert.unreachable(refusal.code),
      besides: () => [],
      onSealed: () => {},
      log: silent,
    }),
  );
  const intake = stack.use(
    await Intake.open({
      node: EU,
      store,
      signer: () => signer,
      cipher,
      now: Date.now,
      projections: [],
      counters: new RecordCounters(store, []),
      timeOf: (first, last) => recordTime({ now: Date.now, isClockOff: () => false, sealer }, first, last),
      onCommitted: (group) => sealer.add(group),
    }),
  );
  return { sealer, intake };
}

/** A start whose topic is read to its end once `read` resolves, and three minutes after the start at once then. */
async function startOf(member: MemberFixture, parts: Awaited<ReturnType<typeof recordingParts>>, read: Promise<void>) {
  const { store, federation, federationLog } = member;
  await store.write([startTable.put(['signed'], 1)]);
  let looks = 0;
  return new NodeStart({
    ...parts,
    self: EU,
    store,
    marks: await StartMarks.open(store, EU),
    names: await OwnNames.open(store, EU),
    follower: { federationLog, readToEnd: () => read, removal: null },
    federation,
    anchoring: { start: () => {}, startStatements: () => {} },
    namer: { start: () => {} },
    ownKeys: { settle: async () => {} },
    isAlone: false,
    isUnread: false,
    now: Date.now,
    monotonic: () => looks++ * LEDGER_LIMIT_MS,
    log: silent,
  });
}

test('a node that took back a part of a batch, and no more, signs behind it and writes over none of it', async () => {
  await using network = await MemberNetwork.create(['eu', 'us', 'jp']);
  await network.start('us', 'jp');
  const [us, jp] = [network.memberFixture('us'), network.memberFixture('jp')];
  const first = await network.batch('eu', {}, 3);
  // us alone holds it, and the ledger does not name it yet.
  const second = await network.batch('eu', {}, 9);
  const copy = await network.open('eu');
  await storeBatch(copy.store, first);
  for (const member of [us, jp]) await member.hold(first);
  await us.hold(second);
  await network.stop('eu');
  const died = Promise.withResolvers<void>();
  let groups = 0;
  network.wire.distortions.set('us', async function* (frames, { want }) {
    for await (const frame of frames) {
      if (want === 'chain' && decodeItem(frame).kind === 'group' && ++groups >= 3) {
        died.resolve();
        network.wire.cut('us');
        throw new TransportError('cut', 'us died');
      }
      yield frame;
    }
  });

  const eu = await network.open('eu');
  const { signer } = network.federation.member('eu').key;
  {
    await using stack = new AsyncDisposableStack();
    const parts = await recordingParts(eu.store, signer, stack);
    const start = await startOf(eu, parts, died.promise);
    await eu.federation.start();
    await start.run(FOREVER);
    const taken = [
      [1, 3],
      [4, 3],
      [7, 3],
    ];
    assert.equal(await groupsOf(eu.store), taken, 'two groups of the batch came');
    assert.is((await readHead(eu.store, EU))?.envelope.batch, 1, 'and the batch did not');
    parts.intake.start();
    const [record] = await parts.intake.submitAll([draftOf('s')]);
    assert.is(record?.record.seq, 10);
    assert.equal(await groupsOf(eu.store), [...taken, [10, 1]]);
    assert.is(parts.sealer.waiting, 7);
  }
  // The next start finds every record that was signed.
  await using stack = new AsyncDisposableStack();
  assert.is((await recordingParts(eu.store, signer, stack)).sealer.waiting, 7);
});

test.run();
