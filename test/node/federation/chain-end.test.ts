import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { requireStanding } from '../../../node/federation/chain-end.ts';
import type { LedgerView } from '../../../node/federation/ledger-view.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { PeerStatementError } from '../../../node/federation/peer-statement-error.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { EMPTY_LEDGER } from '../../fixtures/ledger-view.ts';
import { fastFederation } from './member-rooms.ts';

const federation = await fastFederation();
const founders = federation.members.map(({ member }) => member);
const before = await federation.sealBatch('jp', [{}], { witnesses: [] });
const dropping = federation.addRoster({ members: founders.filter(({ node }) => node !== 'jp') });

/** A ledger on which the batch, and the roster that drops its node, have these sequence numbers. */
function ledgerOf(places: { readonly batch?: number; readonly drop?: number }): LedgerView {
  const at = (place: number | undefined) =>
    place === undefined ? undefined : { ...before.anchor, sequence: String(place) };
  return {
    envelopeAnchor: async () => at(places.batch),
    statementAnchor: async ({ text }) => (text === dropping ? at(places.drop) : undefined),
  };
}

async function judge(
  { envelope, signed }: Pick<TestBatch, 'envelope' | 'signed'>,
  ledger: LedgerView,
): Promise<string> {
  try {
    await requireStanding(federation.chain, ledger, envelope, signed.statement);
    return 'taken';
  } catch (error) {
    return error instanceof PeerStatementError ? error.fault : String(error);
  }
}

test('a batch of a removed node is taken where the ledger shows it before the roster that drops the node', async () => {
  assert.is(await judge(before, ledgerOf({ batch: 9, drop: 10 })), 'taken');
  assert.is(await judge(before, ledgerOf({ batch: 9 })), 'taken');
  assert.is(await judge(before, ledgerOf({ batch: 10, drop: 9 })), 'late');
  assert.is(await judge(before, ledgerOf({ drop: 10 })), 'late');
  assert.is(await judge(before, EMPTY_LEDGER), 'unknown-member', 'not before the ledger has spoken');
});

test('a batch of a node that no roster names is not taken yet', async () => {
  const other = { ...before, envelope: { ...before.envelope, node: nodeId('zz') } };
  assert.is(await judge(other, ledgerOf({ batch: 1 })), 'unknown-member');
});

test('a member that stays needs no ledger', async () => {
  assert.is(await judge(await federation.sealBatch('us', [{}], { witnesses: [] }), EMPTY_LEDGER), 'taken');
});

test.run();
