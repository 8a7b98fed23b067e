import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HaltReason, OwnChainEvidence } from '../../../../node/federation/own-chain.ts';
import { AnnouncedBatches } from '../../../../node/federation/start/announced-batches.ts';
import { PeerStatementError } from '../../../../node/log/members/peer-statement-error.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { NOTHING_DECIDED } from '../../../fixtures/nothing-decided.ts';
import { until } from '../../../fixtures/until.ts';
import { storeBatch } from '../member-fixture.ts';
import { MemberNetwork } from '../member-network.ts';

const FOREVER = new AbortController().signal;
/** Longer than a start looks again at what it waits for, in milliseconds. */
const SOME_LOOKS_MS = 800;

/** Both others have answered. */
const bothAnswered = ({ answered }: OwnChainEvidence): boolean => answered.size === 2;

/** `eu` announced a second batch and died before anybody had it; its store is a copy from before. */
async function announcedAndLost() {
  const network = await MemberNetwork.create(['eu', 'us', 'jp']);
  await network.start('us', 'jp');
  const [first, second] = [await network.batch('eu'), await network.batch('eu')];
  const copy = await network.open('eu');
  await storeBatch(copy.store, first);
  await network.stop('eu');
  for (const name of ['us', 'jp']) await network.memberFixture(name).hold(first);
  const heard = await network.memberFixture('us').hear({ type: 'envelope', signed: second.signed }, network.id('eu'));
  assert.is(heard, 'accept');
  return { network, second };
}

test('a number that was announced is not signed again before its batch is back, though nobody holds it', async () => {
  const { network, second } = await announcedAndLost();
  await using _network = network;
  const halts: HaltReason[] = [];
  const eu = await network.open('eu', { onHalt: (reason) => halts.push(reason) });
  await eu.federation.start();
  let seen: OwnChainEvidence | undefined;
  let isOver = false;
  const recovering = eu.federation.recoverOwnChain(FOREVER, (evidence) => {
    seen = evidence;
    return bothAnswered(evidence);
  });
  recovering.then(
    () => (isOver = true),
    () => {},
  );
  await until('both answers', () => seen?.answered.size === 2);
  await sleep(SOME_LOOKS_MS);
  assert.equal([seen?.held, seen?.shown, isOver], [1, 2, false]);
  assert.equal(eu.federation.faults.all(), [], 'nobody is blamed for what nobody has');
  // A member that has it returns.
  await network.memberFixture('jp').hold(second);
  network.wire.cut('eu', 'jp');
  network.wire.heal('eu', 'jp');
  assert.is(await recovering, 1);
  assert.equal([eu.federation.halted, halts], [null, []]);
});

test('an announced batch whose key was revoked as compromised keeps nobody waiting', async () => {
  const { network } = await announcedAndLost();
  await using _network = network;
  const eu = await network.open('eu', { decided: { ...NOTHING_DECIDED, isRevoked: () => true } });
  await eu.federation.start();
  let seen: OwnChainEvidence | undefined;
  const recovering = eu.federation.recoverOwnChain(FOREVER, (evidence) => {
    seen = evidence;
    return bothAnswered(evidence);
  });
  await until('both answers', () => seen?.answered.size === 2 && seen.shown === 2);
  await eu.keys.learnRevocation(await network.federation.revokeKey('eu', { compromisedSince: timestampOf(0) }));
  assert.is(await recovering, 0);
});

test('an announced batch that the log decided is for the log to tell of, and one of another node is none', async () => {
  await using network = await MemberNetwork.create(['eu', 'us']);
  const eu = await network.open('eu');
  const [own, others] = [await network.batch('eu'), await network.batch('us')];
  let isDecided = false;
  const decided = { ...NOTHING_DECIDED, envelopeOf: async () => (isDecided ? own.hash : undefined) };
  const announced = new AnnouncedBatches({ self: eu.node, keys: eu.keys, decided });
  assert.is(await announced.last(), 0);
  assert.throws(
    () => announced.take(others.signed),
    (error: unknown) => error instanceof PeerStatementError,
  );
  announced.take(own.signed);
  assert.is(await announced.last(), 1);
  isDecided = true;
  assert.is(await announced.last(), 0);
});

test.run();
