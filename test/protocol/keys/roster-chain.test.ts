import { hashText } from '../../../protocol/hash.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { RosterError } from '../../../protocol/log/roster-error.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { federationDigest, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const ALL = ['us', 'eu', 'ca', 'sg', 'jp'];

const federation = await TestFederation.create({ signerOf: nativeSigner });
const { genesis } = federation;
const founding = rosterStatement.parse(genesis.statement);
const next: Roster = { ...founding, version: 2, previous: hashText(nativeSuite, genesis.statement), name: 'second' };

test('a genesis roster signed by all its members opens, and names the federation', () => {
  const chain = RosterChain.open(nativeSuite, federation.given);
  assert.is(chain.genesis, hashText(nativeSuite, genesis.statement));
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
    assertRefused('too-few-signatures', signed);
  }
});

test('one founder cannot sign twice or for another, and no signature may be bad', async () => {
  const [us, eu, ...others] = genesis.signatures;
  assert.ok(us && eu);
  assertRefused('too-few-signatures', { ...genesis, signatures: [us, us, ...others] });
  assertRefused('too-few-signatures', { ...genesis, signatures: [us, eu, ...others, us] });
  assertRefused('too-few-signatures', { ...genesis, signatures: [us, { ...us, node: eu.node }, ...others] });
  assertRefused('too-few-signatures', { ...genesis, signatures: [us, { ...eu, node: nodeId('za') }, ...others] });
});

test('a later roster needs no signature: who named it is for the ledger to say', () => {
  const text = rosterStatement.write(next);
  const chain = RosterChain.open(nativeSuite, { genesis, later: [text] });
  assert.equal([chain.current.name, chain.version(1)?.name, chain.version(3)], ['second', 'test', undefined]);
  assert.equal(chain.texts, [genesis.statement, text]);
  const followed = RosterChain.open(nativeSuite, federation.given).follow(nativeSuite, text);
  assert.equal(followed.given, chain.given);
  assert.equal([followed.hash, followed.upTo(1).hash], [chain.hash, chain.genesis]);
});

test('a member that left is still known by the last roster that named it', () => {
  const without = { ...next, members: next.members.filter(({ node }) => node !== 'jp') };
  const chain = RosterChain.open(nativeSuite, { genesis, later: [rosterStatement.write(without)] });
  assert.is(chain.member(nodeId('jp'))?.node, 'jp');
  assert.not(chain.current.members.some(({ node }) => node === 'jp'));
});

test('versions follow each other without gap, each naming the one before', async () => {
  const text = (change: Partial<Roster>) => rosterStatement.write({ ...next, ...change });
  assertRefused('broken-chain', await federation.signRoster(next, ALL));
  assertRefused('broken-chain', await federation.signRoster({ ...next, version: 1 }, ALL));
  assertRefused('broken-chain', genesis, [genesis.statement]);
  assertRefused('broken-chain', genesis, [text({ version: 3 })]);
  assertRefused('broken-chain', genesis, [text({ previous: null })]);
  assertRefused('broken-chain', genesis, [text({ previous: hashText(nativeSuite, 'x') })]);
  assertRefused('ledger-changed', genesis, [text({ ledger: { ...next.ledger, network: 'another' } })]);
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
    assertRefused(code, await federation.signRoster({ ...founding, ...change }, ALL));
  }
  assertRefused('malformed', { ...genesis, statement: `${genesis.statement} ` });
});

function assertRefused(code: RosterError['code'], signed: SignedRoster, later: readonly string[] = []): void {
  assert.throws(
    () => RosterChain.open(nativeSuite, { genesis: signed, later }),
    (error: unknown) => error instanceof RosterError && error.code === code,
  );
}

test.run();
