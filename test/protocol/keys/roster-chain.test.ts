import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { RosterError } from '../../../protocol/log/roster-error.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { federationDigest, hashOfRoster, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const ALL = ['us', 'eu', 'ca', 'sg', 'jp'];

const federation = await TestFederation.create({ signerOf: nativeSigner });
const [genesis] = federation.rosters;
assert.ok(genesis);
const founding = rosterStatement.parse(genesis.statement);
const next: Roster = { ...founding, version: 2, previous: hashOfRoster(nativeSuite, genesis.statement), name: 'second' };

test('a genesis roster signed by all its members opens, and names the federation', () => {
  const chain = RosterChain.open(nativeSuite, federation.rosters);
  assert.is(chain.genesis, hashOfRoster(nativeSuite, genesis.statement));
  assert.is(chain.digest, federationDigest(chain.genesis));
  assert.is(`sha256:${chain.digest}`, chain.genesis.slice(0, 'sha256:'.length + 8));
  assert.is(chain.current.version, 1);
  assert.is(chain.member(nodeId('eu'))?.node, 'eu');
  assert.is(chain.member(nodeId('zz')), undefined);
});

test('every founder must sign', async () => {
  for (const absent of ALL) {
    const signed = await federation.signRoster(
      founding,
      ALL.filter((node) => node !== absent),
    );
    assertRefused('too-few-signatures', [signed]);
  }
});

test('a later roster needs a quorum of the one before, of whichever members', async () => {
  for (const signers of [['us', 'eu', 'ca'], ['sg', 'jp', 'eu'], ALL]) {
    const chain = RosterChain.open(nativeSuite, [genesis, await federation.signRoster(next, signers)]);
    assert.is(chain.current.name, 'second');
    assert.is(chain.version(1)?.name, 'test');
    assert.is(chain.version(3), undefined);
  }
  assertRefused('too-few-signatures', [genesis, await federation.signRoster(next, ['us', 'eu'])]);
  assertRefused('too-few-signatures', [genesis, await federation.signRoster(next, [])]);
});

test('one member cannot vote twice, and no vote may be bad', async () => {
  const signed = await federation.signRoster(next, ['us', 'eu', 'ca']);
  const [us, eu, ca] = signed.signatures;
  assert.ok(us && eu && ca);
  assertRefused('too-few-signatures', [genesis, { ...signed, signatures: [us, us, eu] }]);
  assertRefused('too-few-signatures', [genesis, { ...signed, signatures: [us, us, eu, ca] }]);
  assertRefused('too-few-signatures', [
    genesis,
    { ...signed, signatures: [us, eu, ca, { ...us, node: nodeId('jp') }] },
  ]);
  assertRefused('too-few-signatures', [
    genesis,
    { ...signed, signatures: [us, eu, { ...ca, signature: us.signature }] },
  ]);
});

test('a member that joins has no vote on its own joining', async () => {
  const six = await TestFederation.create({ nodes: [...ALL, 'za'], signerOf: nativeSigner });
  const joined: Roster = { ...next, members: six.members.map(({ member }) => member) };
  const chain = RosterChain.open(nativeSuite, [genesis, await federation.signRoster(joined, ['us', 'eu', 'ca'])]);
  assert.is(chain.member(nodeId('za'))?.node, 'za');
  assertRefused('too-few-signatures', [genesis, await six.signRoster(joined, ['us', 'eu', 'ca', 'za'])]);
});

test('a member that left is still known by the last roster that named it', async () => {
  const without = { ...next, members: next.members.filter(({ node }) => node !== 'jp') };
  const chain = RosterChain.open(nativeSuite, [genesis, await federation.signRoster(without, ['us', 'eu', 'ca'])]);
  assert.is(chain.member(nodeId('jp'))?.node, 'jp');
  assert.not(chain.current.members.some(({ node }) => node === 'jp'));
});

test('versions follow each other without gap, each naming the one before', async () => {
  const signed = (change: Partial<Roster>) => federation.signRoster({ ...next, ...change }, ALL);
  assertRefused('empty', []);
  assertRefused('broken-chain', [await signed({})]);
  assertRefused('broken-chain', [genesis, genesis]);
  assertRefused('broken-chain', [genesis, await signed({ version: 3 })]);
  assertRefused('broken-chain', [genesis, await signed({ previous: null })]);
  assertRefused('broken-chain', [genesis, await signed({ previous: hashOfRoster(nativeSuite, 'x') })]);
  assertRefused('broken-chain', [await signed({ version: 1 })]);
});

test('a roster that could be outvoted by one, or never witnessed, is refused', async () => {
  const [us, eu] = founding.members;
  assert.ok(us && eu);
  const short = encodeSignature(new Uint8Array(32).fill(1));
  const wrong: readonly [RosterError['code'], Partial<Roster>][] = [
    ['named-twice', { members: [...founding.members, us] }],
    ['named-twice', { members: [...founding.members, { ...us, node: nodeId('za') }] }],
    ['identity-key', { quorum: 1, members: [us, { ...eu, identityKey: short }] }],
    ['quorum', { quorum: 5 }],
    ['quorum', { quorum: 0 }],
  ];
  for (const [code, change] of wrong) {
    assertRefused(code, [await federation.signRoster({ ...founding, ...change }, ALL)]);
  }
  assertRefused('malformed', [{ ...genesis, statement: `${genesis.statement} ` }]);
});

function assertRefused(code: RosterError['code'], rosters: readonly SignedRoster[]): void {
  assert.throws(
    () => RosterChain.open(nativeSuite, rosters),
    (error: unknown) => error instanceof RosterError && error.code === code,
  );
}

test.run();
