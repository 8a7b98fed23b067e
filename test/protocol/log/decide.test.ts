import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { decide, DecideError } from '../../../protocol/log/decide.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import {
  knownNode,
  MAX_OPEN_NAMES,
  MAX_REVOCATIONS_OF_KEY,
  MAX_REVOKED_KEYS,
} from '../../../protocol/log/decision-state.ts';
import { isRevocationNamed } from '../../../protocol/log/in-force.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { accountOf, FOUNDERS, genesisOf, hashOf, memberOf, messageAt, STRANGER, Topic } from './topic.ts';

test('a batch is decided at the first name from its own account, and the decision says where it stands', () => {
  const topic = new Topic();
  topic.pay(STRANGER, 'noise');
  const named = topic.batch('eu', 1);
  const outcome = topic.pay(accountOf('eu', 2), named);
  assert.is(outcome.kind, 'decided');
  const [decision] = topic.decisions;
  assert.ok(decision);
  assert.equal(decision, {
    v: 1,
    type: 'decision',
    index: 0,
    network: 'testnet',
    topicId: '0.0.5005',
    sequence: '2',
    consensusTimestamp: '1800000002.000000001',
    payer: accountOf('eu', 2),
    message: writeLedgerMessage(named),
    runningHash: topic.messages[1]?.runningHash,
  });
  assert.equal(decisionText.parse(decisionText.write(decision)), decision);
  assert.equal(topic.state.members['eu']?.last, { batch: 1, envelope: named.envelope, index: 0 });
  assert.is(topic.state.size, 1);
});

test('only the number after the last one counts', () => {
  const topic = new Topic();
  assert.not(topic.say('eu', topic.batch('eu', 2)));
  assert.ok(topic.say('eu', topic.batch('eu', 1)));
  assert.not(topic.say('eu', topic.batch('eu', 1)));
  assert.not(topic.say('eu', topic.batch('eu', 3)));
  assert.ok(topic.say('eu', topic.batch('eu', 2)));
  assert.is(topic.state.members['eu']?.last?.batch, 2);
  assert.is(topic.state.members['us']?.last, null);
});

test('a name that is not canonical, of another federation or too long counts for nothing', () => {
  const topic = new Topic();
  const named = topic.batch('eu', 1);
  const text = writeLedgerMessage(named);
  const payer = accountOf('eu');
  const nothing = [
    ` ${text}`,
    `\uFEFF${text}`,
    text.slice(0, -1),
    text.replace('"v":2', '"v":3'),
    text.replace('{"batch"', '{"also":1,"batch"'),
    writeLedgerMessage({ ...named, federation: hashOf('another') }),
    text.padEnd(701, ' '),
    Uint8Array.of(0xff, ...utf8(text)),
  ];
  for (const said of nothing) assert.is(topic.pay(payer, said).kind, 'undecided');
  assert.is(topic.state.size, 0);
  assert.equal(topic.state.open, {});
  assert.is(topic.pay(payer, text).kind, 'decided');
});

test('a majority that names the whole text alike decides a batch of a node that is silent', () => {
  const topic = new Topic();
  assert.not(topic.say(['us', 'ca'], topic.batch('eu', 1)));
  assert.not(topic.say('sg', topic.batch('eu', 1, 'eu-1', 'another key')));
  assert.not(topic.say('jp', topic.batch('eu', 1, 'another')));
  assert.ok(topic.say('sg', topic.batch('eu', 1)));
  assert.equal(topic.state.open, {});
  assert.not(topic.say('eu', topic.batch('eu', 1)));
});

test('what a member named last counts, and one member with two accounts is one', () => {
  const topic = new Topic();
  topic.say(['us', 'ca'], topic.batch('eu', 1));
  topic.say('us', topic.batch('eu', 1, 'another'));
  assert.not(topic.say('sg', topic.batch('eu', 1)));
  assert.is(topic.pay(accountOf('sg', 2), topic.batch('eu', 1)).kind, 'undecided');
  assert.ok(topic.say('us', topic.batch('eu', 1)));
});

test('a name for a later number is not kept for when it is the next', () => {
  const topic = new Topic();
  topic.say(['us', 'ca', 'sg'], topic.batch('eu', 2));
  assert.equal(topic.state.open, {});
  assert.ok(topic.say('eu', topic.batch('eu', 1)));
  assert.is(topic.state.size, 1);
  assert.not(topic.say(['us', 'ca'], topic.batch('eu', 2)));
  assert.ok(topic.say('sg', topic.batch('eu', 2)));
});

test('a rival is told of and changes nothing', () => {
  const topic = new Topic();
  topic.say('eu', topic.batch('eu', 1));
  topic.say('eu', topic.batch('eu', 1));
  topic.say('us', topic.batch('eu', 1, 'rival'));
  assert.equal(topic.rivals, []);
  topic.say('eu', topic.batch('eu', 1, 'rival'));
  const { open, members } = topic.state;
  assert.equal(open, {});
  assert.is(members['eu']?.last?.envelope, hashOf('eu-1'));
  const [rival] = topic.rivals;
  assert.ok(rival);
  assert.is(rival.decided, hashOf('eu-1'));
  assert.is(rival.envelope, hashOf('rival'));
  assert.is(rival.sequence, 4);
  topic.say('eu', topic.batch('eu', 2));
  topic.say('eu', topic.batch('eu', 1, 'rival'));
  assert.is(topic.rivals[1]?.decided, null);
  topic.say(['us', 'ca', 'sg'], topic.revocation('eu', 'stolen'));
  topic.say('eu', topic.batch('eu', 2, 'rival', 'stolen'));
  assert.is(topic.rivals.length, 2);
});

test('a key whose revocation is in force decides nothing, and names by it fall', () => {
  const topic = new Topic();
  topic.say(['us', 'ca'], topic.batch('eu', 1));
  topic.say('jp', topic.batch('eu', 1, 'resigned', 'new'));
  topic.say('jp', topic.batch('ca', 1, 'ca-1', 'key-eu'));
  assert.not(topic.say(['us', 'ca'], topic.revocation('eu')));
  assert.ok(topic.say('sg', topic.revocation('eu')));
  assert.equal(Object.keys(topic.state.open), ['jp']);
  assert.is(topic.state.open['jp']?.batches.length, 2);
  assert.not(topic.say('eu', topic.batch('eu', 1)));
  assert.not(topic.say(['us', 'ca', 'sg'], topic.batch('eu', 1)));
  assert.equal(Object.keys(topic.state.open), ['jp']);
  assert.ok(topic.say(['us', 'ca'], topic.batch('eu', 1, 'resigned', 'new')));
  assert.ok(topic.say('us', topic.batch('us', 1, 'us-1', 'key-eu')), 'the same key id at another node');
});

test('a revocation is decided once, and a key that was rotated can be said to be stolen', () => {
  const topic = new Topic();
  assert.ok(topic.say(['us', 'ca', 'eu'], topic.revocation('eu')));
  assert.not(topic.say(FOUNDERS, topic.revocation('eu')));
  assert.not(topic.say(FOUNDERS, topic.revocation('zz')));
  assert.equal(topic.state.open, {});
  assert.ok(topic.say(['us', 'ca', 'eu'], topic.revocation('eu', 'key-eu', 'stolen')));
  assert.equal(
    topic.state.revoked['eu']?.[hashOf('key-eu')]?.map(({ statement, index }) => [statement, index]),
    [
      [hashOf('revocation of key-eu'), 0],
      [hashOf('stolen'), 1],
    ],
  );
  topic.say(['us', 'ca'], topic.revocation('eu', 'key-eu', 'one too many'));
  for (let i = 2; i < MAX_REVOCATIONS_OF_KEY; i++) {
    assert.ok(topic.say(['us', 'ca', 'eu'], topic.revocation('eu', 'key-eu', `${i}`)));
  }
  assert.equal(topic.state.open, {});
  assert.not(topic.say(FOUNDERS, topic.revocation('eu', 'key-eu', 'one too many')));
});

test('a revocation of a key that has several is not decided again, and leaves names of other keys as they are', () => {
  const topic = new Topic();
  const named = topic.revocation('eu', 'other key');
  topic.say(['us', 'ca'], named);
  assert.ok(topic.say(['us', 'ca', 'sg'], topic.revocation('eu')));
  assert.ok(topic.say(['us', 'ca', 'sg'], topic.revocation('eu', 'key-eu', 'stolen')));
  assert.not(topic.say(FOUNDERS, topic.revocation('eu')));
  assert.not(topic.say(FOUNDERS, topic.revocation('eu', 'key-eu', 'stolen')));
  assert.ok(topic.say('sg', named), 'it had two of three names all the while');
  assert.is(topic.state.size, 3);
});

test('a revocation is named once a member of the roster in force named it, and for good once it is in force', () => {
  const topic = new Topic();
  const [named, other] = [topic.revocation('eu'), topic.revocation('eu', 'key-eu', 'stolen')];
  assert.not(isRevocationNamed(topic.state, named));
  topic.say('us', named);
  assert.equal([isRevocationNamed(topic.state, named), isRevocationNamed(topic.state, other)], [true, false]);
  topic.say(['ca', 'sg'], named);
  assert.equal(topic.state.open, {});
  assert.equal([isRevocationNamed(topic.state, named), isRevocationNamed(topic.state, other)], [true, false]);
});

test('a node that has revoked as many keys as there is room for revokes no other', () => {
  const topic = new Topic();
  const { consensusTimestamp } = messageAt(1, STRANGER, utf8(''));
  const revocation = { statement: hashOf('x'), index: 0, consensusTimestamp };
  const keys = Array.from({ length: MAX_REVOKED_KEYS - 1 }, (_, i) => [hashOf(`${i}`), [revocation]]);
  topic.state = { ...topic.state, revoked: { eu: Object.fromEntries(keys) } };
  topic.say(['us', 'ca'], topic.revocation('eu', 'one too many'));
  assert.ok(topic.say(['us', 'ca', 'sg'], topic.revocation('eu', 'last')));
  assert.equal(topic.state.open, {});
  assert.not(topic.say(FOUNDERS, topic.revocation('eu', 'one too many')));
  assert.ok(topic.say(['us', 'ca', 'sg'], topic.revocation('eu', 'last', 'stolen')));
  assert.ok(topic.say(['us', 'ca', 'sg'], topic.revocation('us', 'one too many')));
});

test('of a member the newest names are kept, and one that is named again is one', () => {
  const topic = new Topic();
  topic.say('jp', topic.revocation('eu', '0'));
  for (let i = 0; i <= MAX_OPEN_NAMES; i++) topic.say('jp', topic.revocation('eu', '1'));
  assert.is(topic.state.open['jp']?.revocations.length, 2);
  for (let i = 0; i <= MAX_OPEN_NAMES; i++) topic.say('us', topic.revocation('us', `${i}`));
  topic.say('ca', topic.revocation('us', '0'));
  assert.not(topic.say('sg', topic.revocation('us', '0')));
  topic.say('ca', topic.revocation('us', '1'));
  assert.ok(topic.say('sg', topic.revocation('us', '1')));
});

test('a roster comes into force where a majority of the one before names it, and open names fall', () => {
  const topic = new Topic();
  topic.say(['us', 'ca'], topic.batch('eu', 1));
  topic.say(['us', 'ca'], topic.revocation('eu'));
  const grown = topic.next({ members: [...FOUNDERS, 'za'].map((name) => memberOf(name)) });
  assert.not(topic.say(['us', 'ca', 'za'], grown));
  assert.ok(topic.say('eu', grown));
  assert.is(topic.state.majority, 4);
  assert.equal(topic.state.rosters, [
    { hash: topic.state.federation, index: null },
    { hash: grown.statement, index: 0 },
  ]);
  assert.equal(topic.state.open, {});
  assert.not(topic.say('sg', topic.batch('eu', 1)));
  assert.not(topic.say('sg', topic.revocation('eu')));
  assert.ok(topic.say('za', topic.batch('za', 1)));
  assert.not(topic.say('us', grown), 'its previous is not in force any more');
  assert.is(topic.state.open['us'], undefined);
});

test('a tie of two rosters is left by a member that changes its mind', () => {
  const topic = new Topic(genesisOf(['us', 'eu', 'ca', 'sg']));
  const [one, other] = [topic.next({ name: 'one' }), topic.next({ name: 'other' })];
  assert.not(topic.say(['us', 'eu'], one));
  assert.not(topic.say(['ca', 'sg'], other));
  assert.ok(topic.say('ca', one));
  assert.is(topic.state.rosters[1]?.hash, one.statement);
});

test('a removed node says nothing more, its last batches can be rescued, and on its return it goes on', () => {
  const topic = new Topic();
  topic.say('jp', topic.batch('jp', 1));
  topic.say(['us', 'ca'], topic.batch('jp', 2));
  const all = topic.roster.members;
  assert.ok(topic.say(['us', 'eu', 'ca'], topic.next({ members: all.filter(({ node }) => node !== 'jp') })));
  assert.not(topic.say('jp', topic.batch('jp', 2)));
  assert.not(topic.say(['us', 'ca'], topic.batch('jp', 2)));
  assert.ok(topic.say('sg', topic.batch('jp', 2)));
  assert.ok(topic.say(['us', 'ca', 'sg'], topic.revocation('jp')));
  assert.not(topic.say(['us', 'ca', 'sg'], topic.batch('jp', 3)));
  assert.ok(topic.say(['us', 'eu', 'ca'], topic.next({ members: all })));
  assert.not(topic.say('jp', topic.batch('jp', 3)));
  assert.ok(topic.say('jp', topic.batch('jp', 3, 'jp-3', 'new key')));
  assert.equal(topic.state.past, {});
});

test('an account that a later roster takes from its member pays for nothing that counts', () => {
  const topic = new Topic();
  const members = topic.roster.members.map((member) =>
    member.node === 'eu' ? { ...member, accounts: [accountOf('eu', 2)] } : member,
  );
  assert.ok(topic.say(['us', 'ca', 'sg'], topic.next({ members })));
  assert.is(topic.pay(accountOf('eu'), topic.batch('eu', 1)).kind, 'undecided');
  assert.is(topic.pay(accountOf('eu', 2), topic.batch('eu', 1)).kind, 'decided');
});

test('a roster that breaks a rule never comes into force, and its names fall', () => {
  const topic = new Topic();
  const broken = topic.next({ quorum: 5 });
  assert.not(topic.say(['us', 'eu', 'ca'], broken));
  assert.equal(topic.state.open, {});
  assert.not(topic.say(['sg', 'jp'], broken));
  assert.ok(topic.say(['us', 'eu', 'ca'], topic.next({ quorum: 4 })));
});

test('the log waits for the text of a roster that a majority names, and for no other', () => {
  const topic = new Topic();
  const named = topic.next({ name: 'next' });
  const text = topic.texts.get(named.statement);
  assert.ok(text);
  topic.texts.clear();
  assert.not(topic.say(['us', 'eu'], named));
  const before = topic.state;
  const outcome = topic.pay(accountOf('ca'), named);
  assert.equal(outcome, { kind: 'needs-roster', statement: named.statement });
  assert.is(topic.state, before);
  topic.texts.set(named.statement, `${text} `);
  assert.throws(() => topic.pay(accountOf('ca'), named), isError('wrong-roster-text'));
  topic.texts.set(named.statement, '\uD800');
  assert.throws(() => topic.pay(accountOf('ca'), named), isError('wrong-roster-text'));
  topic.texts.set(named.statement, text);
  assert.ok(topic.say('ca', named));
});

test('messages are given in order, without gap', () => {
  const { state } = new Topic();
  for (const sequence of [0, 2, 1.5, -1]) {
    const message = { ...messageAt(1, STRANGER, utf8('x')), sequence };
    assert.throws(() => decide(nativeSuite, state, message, () => undefined), isError('out-of-order'));
  }
});

test('a federation of one decides by itself', () => {
  const topic = new Topic(genesisOf(['us']));
  assert.ok(topic.say('us', topic.batch('us', 1)));
  assert.ok(topic.say('us', topic.revocation('us')));
  const pair = topic.next({ quorum: 1, members: [memberOf('us'), memberOf('eu')] });
  assert.ok(topic.say('us', pair));
  assert.is(topic.state.majority, 2);
  assert.is(knownNode(topic.state, nodeId('us'))?.last?.batch, 1);
});

function isError(code: DecideError['code']) {
  return (error: unknown) => error instanceof DecideError && error.code === code;
}

test.run();
