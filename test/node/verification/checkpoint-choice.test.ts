import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readCheckpoint } from '../../../node/log/known-checkpoint.ts';
import {
  type CertifiedCheckpoint,
  chooseCheckpoints,
  isMet,
  type Need,
} from '../../../node/verification/federation-proof.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';

const NODES = ['eu', 'us', 'jp', 'ca', 'sg'].map(nodeId);
const log = await FederationLog.create({ nodes: NODES });
await log.record('eu', [{}]);
const small = await Promise.all(NODES.map(checkpointBy));
await log.record('eu', [{}]);
const large = await Promise.all(NODES.map(checkpointBy));

async function checkpointBy(node: string): Promise<CertifiedCheckpoint> {
  return { ...readCheckpoint(await log.checkpoint(node)), identityKeys: [log.member(node).member.identityKey] };
}

function need(count: number, spare = 0, least = 1): Need {
  return { members: log.roster().roster.members.slice(1), count, spare, says: ({ size }) => size >= least };
}

function named(chosen: readonly CertifiedCheckpoint[]): readonly string[] {
  return chosen.map(({ checkpoint: { node, size } }) => `${node} ${size}`).toSorted();
}

test('no more are taken than are needed, and the spare one where there is one', () => {
  assert.equal(named(chooseCheckpoints(large, [need(3)])).length, 3);
  assert.equal(named(chooseCheckpoints(large, [need(3, 1)])).length, 4);
  assert.equal(named(chooseCheckpoints(large.slice(0, 4), [need(3, 1)])), ['ca 2', 'jp 2', 'us 2']);
});

test('they are of the size that most are of, as far as that meets the need', () => {
  const mixed = [...small.slice(0, 4), ...large.slice(4)];
  assert.equal(named(chooseCheckpoints(mixed, [need(3)])), ['ca 1', 'jp 1', 'us 1']);
  assert.equal(named(chooseCheckpoints(mixed, [need(3, 1)])), ['ca 1', 'jp 1', 'sg 2', 'us 1']);
  assert.equal(named(chooseCheckpoints(mixed, [need(1, 0, 2)])), ['sg 2']);
});

test('one that comes last stands in for no member that says it by another, however many are of its size', () => {
  const members = (from: readonly CertifiedCheckpoint[], ...nodes: readonly string[]) =>
    from.filter(({ checkpoint }) => nodes.includes(checkpoint.node));
  const counting = members(large, 'us', 'jp', 'ca');
  assert.equal(named(chooseCheckpoints(counting, [need(3)], small)), ['ca 2', 'jp 2', 'us 2']);
  assert.equal(named(chooseCheckpoints(counting, [need(4)], small)), ['ca 2', 'jp 2', 'sg 1', 'us 2']);
  const apart = [...members(small, 'us'), ...members(large, 'jp', 'ca')];
  assert.equal(named(chooseCheckpoints(apart, [need(3)], members(small, 'jp', 'ca'))), ['ca 2', 'jp 2', 'us 1']);
});

test('one that comes last and is taken for one need stands in for nobody where a candidate says the other', () => {
  const [us] = need(1).members;
  const of = (from: readonly CertifiedCheckpoint[]) => from.filter(({ checkpoint }) => checkpoint.node === us?.node);
  assert.equal(named(chooseCheckpoints(of(small), [need(1, 0, 2), need(1)], of(large))), ['us 1', 'us 2']);
});

test('a member says it only by a key that its identity key in the roster asked about certified', () => {
  const [, ...others] = need(4).members;
  const us = { node: nodeId('us'), identityKey: log.member('eu').member.identityKey };
  const rejoined = { ...need(4), members: [us, ...others] };
  assert.not(isMet(large, rejoined));
  assert.equal(named(chooseCheckpoints(large, [rejoined])), ['ca 2', 'jp 2', 'sg 2']);
});

test('one checkpoint serves every need that it can', () => {
  assert.equal(chooseCheckpoints(large, [need(3), need(2), need(3)]).length, 3);
});

test('the member that does not count is never taken, and a need that cannot be met takes what there is', () => {
  assert.ok(isMet(large, need(4)));
  assert.not(isMet(large, need(5)));
  assert.equal(named(chooseCheckpoints(large, [need(5)])), ['ca 2', 'jp 2', 'sg 2', 'us 2']);
  assert.not(isMet(small, need(1, 0, 2)));
});

test.run();
