import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { type EntityId, entityId, type NodeId, nodeId } from '../../../protocol/ids.ts';
import { RosterError, type RosterFault } from '../../../protocol/log/roster-error.ts';
import {
  DEFAULT_REVOCATION_REACH,
  hashOfRoster,
  type Member,
  type Roster,
  rosterStatement,
} from '../../../protocol/log/roster.ts';
import { judgeGenesis, judgeNext, MAX_IDENTITY_KEYS, type RosterHistory } from '../../../protocol/log/roster-rules.ts';
import type { Base64url } from '../../../protocol/shapes.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { PUBLIC_KEY_BYTES } from '../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../protocol/time.ts';

/** An identity key of its own for every number. */
function keyOf(number: number): Base64url {
  return encodeSignature(new Uint8Array(PUBLIC_KEY_BYTES).fill(number));
}

function accountOf(number: number): EntityId {
  return entityId(`0.0.${number}`);
}

function memberOf(node: string, number: number, change: Partial<Member> = {}): Member {
  return {
    node: nodeId(node),
    region: node,
    baseUrl: `https://${node}.example`,
    peerId: `peer-${node}`,
    multiaddrs: [],
    accounts: [accountOf(number)],
    identityKey: keyOf(number),
    ...change,
  };
}

const [us, eu, ca] = [memberOf('us', 1), memberOf('eu', 2), memberOf('ca', 3)];
const founding: Roster = {
  v: 2,
  type: 'roster',
  name: 'test',
  version: 1,
  previous: null,
  quorum: 1,
  members: [us, eu, ca],
  ledger: { network: 'local', topicId: entityId('0.0.4242') },
  revocationReach: DEFAULT_REVOCATION_REACH,
  issuedAt: timestampOf(0),
};
const CONTINUES = { genesis: hashOfRoster(nativeSuite, 'lost'), root: hashOfRoster(nativeSuite, 'log'), size: 7 };

/** Rosters that follow each other, each differing from the one before by a change. */
function historyOf(...changes: readonly Partial<Roster>[]): RosterHistory {
  const rosters: Roster[] = [founding];
  let hash = hashOfRoster(nativeSuite, rosterStatement.write(founding));
  for (const change of changes) {
    const text = nextText({ rosters, hash }, change);
    rosters.push(judgeNext({ rosters, hash }, text));
    hash = hashOfRoster(nativeSuite, text);
  }
  return { rosters, hash };
}

function nextText({ rosters, hash }: RosterHistory, change: Partial<Roster>): string {
  const last = rosters.at(-1) ?? founding;
  return rosterStatement.write({ ...last, version: last.version + 1, previous: hash, ...change });
}

function refused(code: RosterFault, why: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof RosterError && error.code === code && why.test(error.message);
}

function assertNext(history: RosterHistory, change: Partial<Roster>, why?: RegExp): void {
  const text = nextText(history, change);
  if (why === undefined) assert.equal(judgeNext(history, text), rosterStatement.parse(text));
  else assert.throws(() => judgeNext(history, text), refused('malformed', why));
}

test('a genesis roster is the first, of whomever, and may go on from a federation whose ledger was lost', () => {
  assert.equal(judgeGenesis(rosterStatement.write(founding)), founding);
  const going = { ...founding, continues: CONTINUES };
  assert.equal(judgeGenesis(rosterStatement.write(going)), going);
  for (const change of [{ version: 2 }, { previous: CONTINUES.genesis }]) {
    const text = rosterStatement.write({ ...founding, ...change });
    assert.throws(() => judgeGenesis(text), refused('broken-chain', /does not follow/));
  }
});

test('nodes, identity keys, peer ids and accounts are named once', () => {
  const wrong: readonly [Partial<Member>, RegExp][] = [
    [{ node: us.node }, /member is named twice/],
    [{ identityKey: us.identityKey }, /one identity key/],
    [{ peerId: us.peerId }, /one peer id/],
    [{ accounts: [accountOf(9), ...us.accounts] }, /account is named twice/],
    [{ accounts: [accountOf(9), accountOf(9)] }, /account is named twice/],
    [{ identityKey: encodeSignature(new Uint8Array(32)) }, /not an ML-DSA-65/],
  ];
  for (const [change, why] of wrong) {
    const members = [us, { ...eu, ...change }, ca];
    const text = rosterStatement.write({ ...founding, members });
    assert.throws(() => judgeGenesis(text), refused('malformed', why));
    assertNext(historyOf(), { members }, why);
  }
  const text = rosterStatement.write({ ...founding, members: [us, { ...eu, accounts: [] }] });
  assert.throws(() => judgeGenesis(text), refused('malformed', /accounts/));
});

test('a quorum fits besides the origin, and is none in a federation of one', () => {
  for (const [members, quorum, isRight] of [
    [[us], 0, true],
    [[us], 1, false],
    [[us, eu], 0, false],
    [[us, eu], 1, true],
    [[us, eu], 2, false],
    [[us, eu, ca], 2, true],
    [[us, eu, ca], 3, false],
  ] as const) {
    const text = rosterStatement.write({ ...founding, members: [...members], quorum });
    if (isRight) assert.is(judgeGenesis(text).quorum, quorum);
    else assert.throws(() => judgeGenesis(text), refused('malformed', /quorum/));
  }
});

test('a next roster follows the last one by number and hash', () => {
  const history = historyOf({});
  for (const change of [{ version: 2 }, { version: 4 }, { previous: CONTINUES.genesis }, { previous: null }]) {
    assert.throws(() => judgeNext(history, nextText(history, change)), refused('broken-chain', /does not follow/));
  }
  assert.throws(() => judgeNext({ rosters: [], hash: history.hash }, nextText(history, {})), refused('empty', /genesis/));
});

test('only the genesis goes on from another federation, and the ledger topic stays', () => {
  assertNext(historyOf(), { continues: CONTINUES }, /only a genesis/);
  assertNext(historyOf(), { ledger: { network: 'other', topicId: founding.ledger.topicId } }, /ledger topic/);
  assertNext(historyOf(), { ledger: { network: 'local', topicId: entityId('0.0.4243') } }, /ledger topic/);
  assertNext(historyOf(), { name: 'other', quorum: 2, revocationReach: 0 });
});

test('an account never passes to another member, in all history', () => {
  const without = { members: [us, eu] };
  assertNext(historyOf(), { members: [us, memberOf('eu', 2, { accounts: ca.accounts })] }, /0\.0\.3 of ca passes/);
  assertNext(historyOf(without, {}), { members: [us, eu, memberOf('za', 4, { accounts: ca.accounts })] }, /passes/);
  assertNext(historyOf(without, {}), { members: [us, eu, ca] });
});

test('an identity key never passes to another member, in all history', () => {
  const without = { members: [us, eu] };
  assertNext(historyOf(without, {}), { members: [us, eu, memberOf('za', 3, { accounts: [accountOf(4)] })] }, /passes/);
});

test('a node keeps its identity key or an account, from the last roster that named it', () => {
  const other = memberOf('ca', 5);
  assertNext(historyOf(), { members: [us, eu, other] }, /ca keeps neither/);
  assertNext(historyOf(), { members: [us, eu, { ...other, accounts: ca.accounts }] });
  assertNext(historyOf(), { members: [us, eu, { ...other, identityKey: ca.identityKey }] });
  const both = { ...other, accounts: [...ca.accounts, ...other.accounts] };
  assertNext(historyOf({ members: [us, eu, both] }), { members: [us, eu, other] });
  assertNext(historyOf({ members: [us, eu] }, {}), { members: [us, eu, other] }, /ca keeps neither/);
});

test('a node has so many identity keys in all history, and no more', () => {
  const withKey = (number: number): Partial<Roster> => ({ members: [us, eu, { ...ca, identityKey: keyOf(number) }] });
  const changes = Array.from({ length: MAX_IDENTITY_KEYS - 1 }, (_, i) => withKey(100 + i));
  const history = historyOf(...changes);
  assertNext(history, { members: [us, eu, ca] });
  assertNext(history, withKey(200), /identity keys/);
});

test('whoever pays, an account has one owner through any history of rosters', () => {
  const names = ['us', 'eu', 'ca', 'jp'];
  const draft = fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 4 });
  const property = fc.property(fc.array(draft, { maxLength: 8 }), (drafts) => {
    let history = historyOf();
    for (const members of drafts) {
      const quorum = members.length === 1 ? 0 : 1;
      const named = members.map(([node, account, key]) =>
        memberOf(node, 1, { accounts: [accountOf(account + 1)], identityKey: keyOf(key + 1) }),
      );
      const text = nextText(history, { members: named, quorum });
      try {
        const rosters = [...history.rosters, judgeNext(history, text)];
        history = { rosters, hash: hashOfRoster(nativeSuite, text) };
      } catch (error) {
        assert.instance(error, RosterError);
      }
    }
    const owners = new Map<EntityId, NodeId>();
    for (const { node, accounts } of history.rosters.flatMap(({ members }) => members)) {
      for (const account of accounts) {
        assert.is(owners.get(account) ?? node, node);
        owners.set(account, node);
      }
    }
  });
  fc.assert(property, { numRuns: 200, seed: 42 });
});

test.run();
