import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OwnNames } from '../../../../node/federation/start/node-start.ts';
import { nativeSigner, nativeSuite } from '../../../../node/keys/native-suite.ts';
import { utf8 } from '../../../../protocol/bytes.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { type EntityId, entityId, nodeId, type NodeId } from '../../../../protocol/ids.ts';
import type { TopicMessage } from '../../../../protocol/log/decide.ts';
import type { DecisionState } from '../../../../protocol/log/decision-state.ts';
import { initialState } from '../../../../protocol/log/in-force.ts';
import { writeLedgerMessage } from '../../../../protocol/log/message.ts';
import { rosterStatement } from '../../../../protocol/log/roster.ts';
import { consensusOf } from '../../../fixtures/federation-topic.ts';
import { TestFederation } from '../../../fixtures/federation.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';

const EU = nodeId('eu');
const US = nodeId('us');
const STRANGER = entityId('0.0.9999');
const KEY = hashText(nativeSuite, 'a key');

const federation = await TestFederation.create({ nodes: ['eu', 'us'], signerOf: nativeSigner });
const [genesis] = federation.rosters;
const state = initialState(nativeSuite, genesis ?? '');
const { members } = rosterStatement.parse(genesis ?? '');

function accountOf(node: NodeId): EntityId {
  const [account] = members.find((member) => member.node === node)?.accounts ?? [];
  if (account === undefined) throw new Error(`no account of ${node}`);
  return account;
}

function name(
  batch: number,
  { node = EU, payer = accountOf(EU), of = state.federation, keyId = KEY } = {},
): TopicMessage {
  const envelope = hashText(nativeSuite, `envelope ${batch}`);
  const message = writeLedgerMessage({ v: 2, type: 'batch', federation: of, node, batch, envelope, keyId });
  return {
    sequence: 1,
    runningHash: state.runningHash,
    consensusTimestamp: consensusOf(0),
    payer,
    message: utf8(message),
  };
}

test('what its own account named counts, decided or not, across a restart', async () => {
  const store = new MemoryRows();
  const names = await OwnNames.open(store, EU);
  assert.is(names.last(state), 0);
  await store.write(names.take([name(3), name(1), name(2)], state));
  assert.is(names.last(state), 3);
  assert.is((await OwnNames.open(store, EU)).last(state), 3);
});

test('a name behind a gap is waited for by nobody, and takes no place from those before it', async () => {
  const store = new MemoryRows();
  const names = await OwnNames.open(store, EU);
  const far = Array.from({ length: 100 }, (_, i) => name(1_000_000 + i));
  await store.write(names.take(far, state));
  assert.is(names.last(state), 0);
  await store.write(names.take([name(1), name(2)], state));
  assert.is(names.last(state), 2);
  assert.is((await OwnNames.open(store, EU)).last(state), 2);
});

test('what others say of it, what it says of others, and what is no name, counts for nothing', async () => {
  const names = await OwnNames.open(new MemoryRows(), EU);
  const messages = [
    name(5, { payer: accountOf(US) }),
    name(5, { payer: STRANGER }),
    name(5, { node: US }),
    name(5, { of: hashText(nativeSuite, 'another federation') }),
    { ...name(5), message: utf8('no name') },
    { ...name(5), message: Uint8Array.of(0xff) },
  ];
  assert.equal(names.take(messages, state), []);
  assert.is(names.last(state), 0);
});

test('a name by a key that was revoked decides nothing, and one that was decided is kept no longer', async () => {
  const store = new MemoryRows();
  const names = await OwnNames.open(store, EU);
  await store.write(names.take([name(1), name(2)], state));
  const { members: known } = state;
  const eu = known.eu;
  if (eu === undefined) throw new Error('eu is a member');
  const revocation = { statement: KEY, index: 0, consensusTimestamp: consensusOf(0) };
  const revoked: DecisionState = { ...state, revoked: { eu: { [KEY]: [revocation] } } };
  assert.is(names.last(revoked), 0);
  const decided: DecisionState = {
    ...state,
    members: { ...known, eu: { ...eu, last: { batch: 2, envelope: KEY, index: 0 } } },
  };
  assert.is(names.last(decided), 2);
  await store.write(names.take([], decided));
  assert.is(await store.first({}), undefined);
});

test('a name by a key that was revoked before does not hide one that can decide', async () => {
  const names = await OwnNames.open(new MemoryRows(), EU);
  const old = hashText(nativeSuite, 'a revoked key');
  const revocation = { statement: KEY, index: 0, consensusTimestamp: consensusOf(0) };
  const revoked: DecisionState = { ...state, revoked: { eu: { [old]: [revocation] } } };
  names.take([name(1), name(2)], revoked);
  assert.equal(names.take([name(2, { keyId: old })], revoked), []);
  assert.is(names.last(revoked), 2);
});

test.run();
