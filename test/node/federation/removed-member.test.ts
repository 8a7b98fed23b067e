import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerView } from '../../../node/federation/ledger-view.ts';
import type { HaltReason } from '../../../node/federation/own-chain.ts';
import type { AskRosters } from '../../../node/federation/roster-inquiry.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { hashOfRoster } from '../../../protocol/log/roster.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { MemberNetwork } from './member-network.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'ca', 'jp'];
const OTHERS = ['eu', 'us', 'ca'];
/** Time in which a batch that is wanted has long arrived. In milliseconds. */
const LONG_MS = 400;

/** A ledger of which the test says what stands on it, in order. */
class TestLedger implements LedgerView {
  readonly #named: Sha256Hash[] = [];
  readonly #batches = new Map<string, { readonly batch: TestBatch; readonly place: number }>();

  nameRoster(roster: Sha256Hash): void {
    this.#named.push(roster);
  }

  anchor(batch: TestBatch): void {
    this.#batches.set(batch.signed.statement, {
      batch,
      place: this.#named.push(hashOfRoster(nativeSuite, batch.signed.statement)),
    });
  }

  readonly statementAnchor: LedgerView['statementAnchor'] = async ({ text }) => {
    const [any] = this.#batches.values();
    const place = this.#named.indexOf(hashOfRoster(nativeSuite, text));
    return any === undefined || place < 0 ? undefined : { ...any.batch.anchor, sequence: String(place + 1) };
  };

  readonly envelopeAnchor: LedgerView['envelopeAnchor'] = async (_envelope, text) => {
    const found = this.#batches.get(text);
    return found && { ...found.batch.anchor, sequence: String(found.place) };
  };
}

test('a removed node cannot go on with the help of a member; what the ledger showed before its removal is taken', async () => {
  const ledger = new TestLedger();
  await using network = await MemberNetwork.create(NODES, { ledger, leaveMs: 10 });
  await network.start(...OTHERS);
  const batches: TestBatch[] = [];
  for (let i = 0; i < 3; i++) batches.push(await network.batch('jp'));
  const [first, second, third] = batches;
  assert.ok(first && second && third);
  const jp = network.id('jp');
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp);
  const dropping = await network.federation.addRoster({ members, quorum: 2 }, OTHERS);
  assert.is(await network.rooms('us').federation.learnRoster(dropping), 'added');
  for (const name of OTHERS) await network.holdsRoster(name, 2);
  ledger.anchor(first);
  ledger.anchor(second);
  ledger.nameRoster(hashOfRoster(nativeSuite, dropping.statement));
  ledger.anchor(third);
  // A bad member holds the whole chain, and offers it.
  const eu = network.rooms('eu');
  for (const batch of batches) {
    await eu.hold(batch);
    await eu.federation.announce(batch);
  }
  for (const name of ['us', 'ca']) await network.holds(name, 'jp', 2);
  network.wire.cut('us');
  network.wire.heal('us');
  await sleep(LONG_MS);
  for (const name of ['us', 'ca']) assert.is(network.rooms(name).chains.head(jp).batch, 2);
  // Its batches are witnessed by those whom their roster names, as ever.
  await network.cosigned('us', 'jp', 'ca', 2);
});

test('a member that a roster adds cosigns what was made before as well as what is made from then on', async () => {
  await using network = await MemberNetwork.create([...OTHERS, 'sg'], {});
  const all = network.federation.members.map(({ member }) => member);
  const without = all.filter(({ node }) => node !== network.id('sg'));
  await network.federation.addRoster({ members: without, quorum: 2 }, OTHERS);
  await network.start(...OTHERS);
  for (let i = 0; i < 3; i++) await network.seal('eu');
  await network.cosigned('ca', 'eu', 'us', 3);
  const joining = await network.federation.addRoster({ members: all }, OTHERS);
  await network.rooms('us').federation.learnRoster(joining);
  await network.start('sg');
  for (const name of [...OTHERS, 'sg']) await network.holdsRoster(name, 3);
  await network.holds('sg', 'eu', 3);
  await network.seal('eu');
  for (const name of OTHERS) await network.cosigned(name, 'eu', 'sg', 4);
  const { cosignatures } = network.rooms('us');
  const witnesses: number[] = [];
  for (let batch = 1; batch <= 4; batch++) witnesses.push((await cosignatures.of(network.id('eu'), batch)).length);
  assert.equal(witnesses, [3, 3, 3, 3]);
  // Another one that missed them all gets them from its peers.
  await network.stop('ca');
  await network.start('ca');
  await network.cosigned('ca', 'eu', 'sg', 4);
});

test('a node that hears of its removal from the ledger alone asks the members at their public addresses, and halts', async () => {
  const asked: string[] = [];
  let shown: readonly SignedRoster[] = [];
  const askRosters: AskRosters = async (baseUrl, from) => {
    asked.push(baseUrl);
    if (asked.length === 1) throw new Error('this member is down');
    return shown.filter((_, index) => index + 2 >= from);
  };
  await using network = await MemberNetwork.create(NODES, { leaveMs: 10 });
  await network.start('eu');
  let halted: HaltReason | undefined;
  const onHalt = (reason: HaltReason) => void (halted = reason);
  const jp = await network.open('jp', { askRosters, rosterPatienceMs: 10, onHalt });
  await jp.federation.start();
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp.node);
  const dropping = await network.federation.addRoster({ members, quorum: 2 }, OTHERS);
  shown = [dropping];
  await jp.federation.noteLedgerRosters([hashOfRoster(nativeSuite, dropping.statement)]);
  await until('jp to halt', () => halted === 'removed');
  assert.equal(
    asked,
    network.federation.members.flatMap(({ member }) => (member.node === jp.node ? [] : [member.baseUrl])).slice(0, 2),
  );
});

test('a removed node that was told once and ended before it asked hears of it at its next start', async () => {
  let shown: readonly SignedRoster[] = [];
  const askRosters: AskRosters = async (_baseUrl, from) => shown.filter((_, index) => index + 2 >= from);
  await using network = await MemberNetwork.create(NODES, { leaveMs: 10 });
  let halted: HaltReason | undefined;
  const onHalt = (reason: HaltReason) => void (halted = reason);
  const jp = await network.open('jp', { askRosters, rosterPatienceMs: 10, onHalt });
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp.node);
  shown = [await network.federation.addRoster({ members, quorum: 2 }, OTHERS)];
  await jp.federation.start();
  await until('jp to halt', () => halted === 'removed');
});

test.run();
