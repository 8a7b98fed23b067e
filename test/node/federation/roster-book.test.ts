import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FederationKeys } from '../../../node/federation/federation-keys.ts';
import { PeerStatementError } from '../../../node/federation/peer-statement-error.ts';
import { RosterBook, type RosterPlace } from '../../../node/federation/roster-book.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { Store } from '../../../node/store/store.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { type Roster, hashOfRoster, rosterStatement } from '../../../protocol/log/roster.ts';
import { fastFederation, temporaryHome } from './member-rooms.ts';

const ALL = ['us', 'eu', 'ca', 'sg', 'jp'];
const VOTERS = ['us', 'eu', 'ca'];
const federation = await fastFederation();
const [genesis] = federation.rosters;
assert.ok(genesis);
const founding = rosterStatement.parse(genesis.statement);

/** A roster that follows another, by the votes of a quorum. */
function after(
  before: SignedRoster,
  change: Partial<Roster>,
  voters: readonly string[] = VOTERS,
): Promise<SignedRoster> {
  const { version } = rosterStatement.parse(before.statement);
  const next = { ...founding, version: version + 1, previous: hashOfRoster(nativeSuite, before.statement), ...change };
  return federation.signRoster(next, voters);
}

const a2 = await after(genesis, { name: 'a2' });
const a3 = await after(a2, { name: 'a3' });
const b2 = await after(genesis, { name: 'b2' }, ['sg', 'jp', 'ca']);
const b3 = await after(b2, { name: 'b3' });

function hashOf(roster: SignedRoster): Sha256Hash {
  return hashOfRoster(nativeSuite, roster.statement);
}

/** A ledger that names rosters in this order. */
function ledgerOf(...named: readonly SignedRoster[]): RosterPlace {
  return async (text) => {
    const place = named.findIndex(({ statement }) => statement === text);
    return place < 0 ? undefined : BigInt(place + 1);
  };
}

async function withBook(run: (book: RosterBook, reopen: () => Promise<RosterBook>) => Promise<void>): Promise<void> {
  await using home = await temporaryHome();
  await using store = await Store.open(join(home.path, 'store'));
  const reopen = () => RosterBook.open(store, federation.rosters);
  await run(await reopen(), reopen);
}

function namesOf({ chain }: RosterBook): string[] {
  return chain.rosters.map(({ name }) => name);
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  return error instanceof PeerStatementError ? error.fault : `not refused: ${String(error)}`;
}

test('the next roster is taken once, told to listeners, and there after a restart', () =>
  withBook(async (book, reopen) => {
    const told: number[] = [];
    book.onRoster(({ version }) => told.push(version));
    assert.equal([await book.learn(a2), await book.learn(a2), await book.learn(a3)], ['added', 'known', 'added']);
    assert.equal(told, [2, 3]);
    assert.equal(namesOf(await reopen()), ['test', 'a2', 'a3']);
  }));

test('an old roster shown again changes nothing, one ahead of its turn is not judged, a forged one is refused', () =>
  withBook(async (book) => {
    assert.is(await faultOf(book.learn(a3)), 'unknown-member');
    await book.learn(a2);
    await book.learn(a3);
    for (const old of [genesis, a2, a3]) assert.is(await book.learn(old), 'known');
    assert.is(await faultOf(book.learn(await after(a3, {}, ['us', 'eu']))), 'forged');
    assert.is(await faultOf(book.learn({ ...a2, statement: `${a2.statement} ` })), 'malformed');
    assert.is(await faultOf(book.learn(await after(genesis, { name: 'late' }, ['us']))), 'forged');
    const other = await federation.signRoster({ ...founding, name: 'other' }, ALL);
    assert.is(await faultOf(book.learn(other)), 'forged');
    assert.equal(namesOf(book), ['test', 'a2', 'a3']);
    assert.equal(book.rivals, []);
  }));

test('a second roster of a version that a quorum signed is kept as proof, also over a restart', () =>
  withBook(async (book, reopen) => {
    await book.learn(a2);
    assert.equal([await book.learn(b2), await book.learn(b2)], ['rival', 'rival']);
    assert.equal((await reopen()).rivals, [{ version: 2, hash: hashOf(b2) }]);
    assert.equal(namesOf(await reopen()), ['test', 'a2']);
  }));

test('of two rosters the one that the ledger names first is in force, whichever was seen first', async () => {
  const cases: readonly [seen: SignedRoster[], named: SignedRoster[], force: string][] = [
    [[a2, b2], [], 'a2'],
    [[b2, a2], [], 'b2'],
    [[a2, b2], [a2, b2], 'a2'],
    [[b2, a2], [a2, b2], 'a2'],
    [[a2, b2], [b2, a2], 'b2'],
    [[a2, b2], [b2], 'b2'],
    [[a2, b2], [a2], 'a2'],
  ];
  for (const [seen, named, force] of cases) {
    await withBook(async (book, reopen) => {
      for (const roster of seen) await book.learn(roster);
      await book.settle(ledgerOf(...named));
      assert.equal([namesOf(book), book.rivals.length], [['test', force], 1]);
      assert.equal(namesOf(await reopen()), ['test', force]);
    });
  }
});

test('what was built on a roster that gives way goes with it, and is kept; the winner is built on', () =>
  withBook(async (book, reopen) => {
    for (const roster of [a2, a3, b2]) await book.learn(roster);
    const told: string[] = [];
    book.onRoster(({ name }) => told.push(name));
    assert.ok(await book.settle(ledgerOf(b2, a2, a3)));
    assert.not.ok(await book.settle(ledgerOf(b2, a2, a3)));
    assert.equal(told, ['b2']);
    assert.is(await book.learn(b3), 'added');
    assert.equal(namesOf(book), ['test', 'b2', 'b3']);
    const { rivals } = await reopen();
    assert.equal(new Set(rivals.map(({ hash }) => hash)), new Set([hashOf(a2), hashOf(a3)]));
  }));

test('a node starts though it holds the key of one whom only a roster named that gave way', async () => {
  const six = await fastFederation([...ALL, 'za']);
  const members = six.members.map(({ member }) => member);
  const five: Roster = { ...founding, members: members.filter(({ node }) => node !== 'za') };
  const first = await six.signRoster(five, ALL);
  const next = { ...five, version: 2, previous: hashOf(first) };
  const joining = await six.signRoster({ ...next, members }, VOTERS);
  const other = await six.signRoster({ ...next, name: 'other' }, VOTERS);
  await using home = await temporaryHome();
  await using store = await Store.open(join(home.path, 'store'));
  const keys = await FederationKeys.open(store, [first]);
  await keys.book.learn(joining);
  await keys.learnCertificate(six.member('za').key.signed);
  await keys.book.learn(other);
  await keys.book.settle(ledgerOf(other, joining));
  const again = await FederationKeys.open(store, [first]);
  assert.equal([again.rosters.current.name, again.isMember(six.member('za').node)], ['other', false]);
});

test('a roster file that goes further is taken at the start, one that is behind changes nothing', () =>
  withBook(async (book) => {
    await book.learn(a2);
    await using home = await temporaryHome();
    await using store = await Store.open(join(home.path, 'other'));
    assert.equal(namesOf(await RosterBook.open(store, [genesis, a2])), ['test', 'a2']);
    assert.equal(namesOf(await RosterBook.open(store, [genesis, a2, a3])), ['test', 'a2', 'a3']);
    assert.equal(namesOf(await RosterBook.open(store, [genesis])), ['test', 'a2', 'a3']);
    const forked = await RosterBook.open(store, [genesis, b2, b3]);
    assert.equal([namesOf(forked), forked.rivals.length], [['test', 'a2', 'a3'], 1]);
  }));

test.run();
