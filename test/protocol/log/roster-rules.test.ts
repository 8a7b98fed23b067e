import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { entityId } from '../../../protocol/ids.ts';
import { MAX_VOUCHED } from '../../../protocol/log/checkpoint.ts';
import { MAX_IDENTITY_KEYS, rosterInForce } from '../../../protocol/log/decision-state.ts';
import { initialState } from '../../../protocol/log/in-force.ts';
import { MAX_MEMBERS, type Member, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { RosterError, type RosterFault } from '../../../protocol/log/roster-error.ts';
import { judgeGenesis, judgeNext, MAX_ROSTER_CHARACTERS } from '../../../protocol/log/roster-rules.ts';
import { isBase64url } from '../../../protocol/statement/statement.ts';
import { accountOf, FOUNDERS, genesisOf, hashOf, identityKeyOf, memberOf, Topic } from './topic.ts';

const MAJORITY = ['us', 'eu', 'ca'];
const CONTINUES = { genesis: hashOf('lost'), root: hashOf('head'), size: 7 };

test('a genesis roster has version 1, none before it, and may go on from a lost federation', () => {
  const genesis = genesisOf(FOUNDERS, { continues: CONTINUES });
  assert.equal(judgeGenesis(rosterStatement.write(genesis)), genesis);
  assertNoGenesis('broken-chain', { version: 2 });
  assertNoGenesis('broken-chain', { previous: hashOf('x') });
  assert.throws(() => judgeGenesis('{}'), isFault('malformed'));
  assert.throws(() => judgeGenesis(`${rosterStatement.write(genesis)} `), isFault('malformed'));
  assert.throws(() => judgeGenesis(' '.repeat(MAX_ROSTER_CHARACTERS + 1)), isFault('too-long'));
  const unfit = rosterStatement.write(genesisOf(['us'], { quorum: 1 }));
  assert.throws(() => initialState(nativeSuite, unfit), isFault('quorum'));
});

test('a quorum fits besides the origin, and is zero for one member alone', () => {
  for (const quorum of [1, 2, 3, 4]) assert.ok(judgeGenesis(rosterStatement.write(genesisOf(FOUNDERS, { quorum }))));
  assertNoGenesis('quorum', { quorum: 0 });
  assertNoGenesis('quorum', { quorum: 5 });
  assert.is(judgeGenesis(rosterStatement.write(genesisOf(['us']))).quorum, 0);
  assertNoGenesis('quorum', { members: [memberOf('us')] });
});

test('nothing that tells members apart is named twice', () => {
  const others = FOUNDERS.slice(1).map((name) => memberOf(name));
  const twice: readonly Member[] = [
    memberOf('eu', { identityKey: identityKeyOf('other'), peerId: 'other', accounts: [accountOf('zz')] }),
    memberOf('zz', { identityKey: identityKeyOf('eu') }),
    memberOf('zz', { peerId: 'peer-eu' }),
    memberOf('zz', { accounts: [accountOf('zz'), accountOf('eu', 2)] }),
    memberOf('zz', { accounts: [accountOf('zz'), accountOf('zz')] }),
  ];
  for (const member of twice) assertNoGenesis('named-twice', { members: [...others, member] });
});

test('an identity key is an ML-DSA-65 public key', () => {
  const key = identityKeyOf('us');
  for (const text of [key.slice(4), `${key}AAAA`, `${key.slice(0, -1)}B`, 'A'.repeat(100_000)]) {
    assert.ok(isBase64url(text));
    assertNoGenesis('identity-key', { members: [memberOf('us', { identityKey: text }), memberOf('eu')] });
  }
});

test('a next roster follows the one in force, on its topic', () => {
  assertFollows({});
  assertFollows({ members: FOUNDERS.slice(1).map((name) => memberOf(name)), quorum: 3, revocationReach: 60 });
  assertRefused('broken-chain', { version: 1 });
  assertRefused('broken-chain', { version: 3 });
  assertRefused('broken-chain', { previous: null });
  assertRefused('broken-chain', { previous: hashOf('x') });
  assertRefused('ledger-changed', { ledger: { network: 'mainnet', topicId: entityId('0.0.5005') } });
  assertRefused('ledger-changed', { ledger: { network: 'testnet', topicId: entityId('0.0.5006') } });
  assertRefused('continues', { continues: CONTINUES });
  assertRefused('quorum', { quorum: 5 });
});

test('a node keeps its identity key or one account', () => {
  const [identityKey, accounts] = [identityKeyOf('new'), [accountOf('eu', 3)]];
  assertFollows({ members: withEu({ identityKey }) });
  assertFollows({ members: withEu({ accounts }) });
  assertFollows({ members: withEu({ identityKey, accounts: [...accounts, accountOf('eu', 2)] }) });
  assertRefused('other-operator', { members: withEu({ identityKey, accounts }) });
});

test('a node that returns is still its operator’s', () => {
  const topic = new Topic();
  const without = topic.roster.members.filter(({ node }) => node !== 'eu');
  assert.ok(topic.say(MAJORITY, topic.next({ members: without })));
  const other = { identityKey: identityKeyOf('new'), accounts: [accountOf('eu', 3)] };
  assertRefused('other-operator', { members: withEu(other) }, topic);
  assertFollows({ members: withEu({ identityKey: identityKeyOf('new') }) }, topic);
});

test('an account never passes to another member, however long ago it was named', () => {
  const topic = new Topic();
  assert.ok(topic.say(MAJORITY, topic.next({ members: withEu({ accounts: [accountOf('eu')] }) })));
  assert.ok(topic.say(MAJORITY, topic.next({ members: topic.roster.members.filter(({ node }) => node !== 'eu') })));
  for (const which of [1, 2]) {
    const heir = memberOf('za', { accounts: [accountOf('za'), accountOf('eu', which)] });
    assertRefused('account-passed', { members: [...topic.roster.members, heir] }, topic);
  }
  assertFollows({ members: withEu({}) }, topic);
});

test('an identity key passes to no other node, also once its own is named no more', () => {
  const topic = new Topic();
  const eu = topic.roster.members.find(({ node }) => node === 'eu');
  assert.ok(eu);
  assert.ok(topic.say(MAJORITY, topic.next({ members: topic.roster.members.filter(({ node }) => node !== 'eu') })));
  const heir = memberOf('za', { identityKey: eu.identityKey });
  assertRefused('identity-key-passed', { members: [...topic.roster.members, heir] }, topic);
});

test('an identity key that a node has given up passes to no other node', () => {
  const topic = new Topic();
  assert.ok(topic.say(MAJORITY, topic.next({ members: withEu({ identityKey: identityKeyOf('new') }) })));
  const heir = memberOf('za', { identityKey: identityKeyOf('eu') });
  assertRefused('identity-key-passed', { members: [...topic.roster.members, heir] }, topic);
});

test('a node has so many identity keys through all its rosters, and may go back to one of them', () => {
  const topic = new Topic();
  const withKey = (word: string): Partial<Roster> => ({ members: withEu({ identityKey: identityKeyOf(word) }) });
  for (let key = 2; key <= MAX_IDENTITY_KEYS; key++) assert.ok(topic.say(MAJORITY, topic.next(withKey(`key ${key}`))));
  assertRefused('too-many-identity-keys', withKey('one more'), topic);
  assertFollows({ members: withEu({}) }, topic);
  assert.ok(topic.say(MAJORITY, topic.next({ members: topic.roster.members.filter(({ node }) => node !== 'eu') })));
  assertRefused('too-many-identity-keys', withKey('one more'), topic);
  assertFollows(withKey('key 2'), topic);
});

test('rosters name no more nodes in all than a checkpoint can vouch for', () => {
  const topic = new Topic();
  const past = Object.fromEntries(
    Array.from({ length: MAX_VOUCHED - FOUNDERS.length - 1 }, (_, i) => [
      `${letter(i)}${letter(Math.floor(i / 26))}${Math.floor(i / 676)}`,
      { accounts: [], identityKeys: [hashOf('x')], last: null },
    ]),
  );
  topic.state = { ...topic.state, past };
  const [one, two] = [memberOf('zz98'), memberOf('zz99')];
  assertFollows({ members: [...topic.roster.members, one] }, topic);
  assertRefused('too-many-nodes', { members: [...topic.roster.members, one, two] }, topic);
  assertFollows({ members: [...topic.roster.members.slice(1), one] }, topic);
});

test('a roster of as many members as there may be fits', () => {
  const names = Array.from({ length: MAX_MEMBERS }, (_, i) => `a${letter(i)}${Math.floor(i / 26)}`);
  const genesis = genesisOf(names);
  assert.is(Object.keys(initialState(nativeSuite, rosterStatement.write(genesis)).members).length, MAX_MEMBERS);
});

function letter(i: number): string {
  return String.fromCharCode(97 + (i % 26));
}

function withEu(change: Partial<Member>): Member[] {
  return FOUNDERS.map((name) => memberOf(name, name === 'eu' ? change : {}));
}

function judge(change: Partial<Roster>, { state, roster }: Topic): Roster {
  const previous = rosterInForce(state);
  const next = { ...roster, version: state.rosters.length + 1, previous, ...change };
  return judgeNext(nativeSuite, state, rosterStatement.write(next));
}

function assertFollows(change: Partial<Roster>, topic = new Topic()): void {
  assert.is(judge(change, topic).version, topic.state.rosters.length + 1);
}

function assertRefused(code: RosterFault, change: Partial<Roster>, topic = new Topic()): void {
  assert.throws(() => judge(change, topic), isFault(code));
}

function assertNoGenesis(code: RosterFault, change: Partial<Roster>): void {
  assert.throws(() => judgeGenesis(rosterStatement.write(genesisOf(FOUNDERS, change))), isFault(code));
}

function isFault(code: RosterFault) {
  return (error: unknown) => error instanceof RosterError && error.code === code;
}

test.run();
