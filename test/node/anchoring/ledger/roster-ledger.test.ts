import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LedgerConfigError, rosterLedger } from '../../../../node/anchoring/ledger/config.ts';
import { nativeSigner } from '../../../../node/keys/native-suite.ts';
import { type EntityId, entityId, nodeId } from '../../../../protocol/ids.ts';
import { TestFederation } from '../../../fixtures/federation.ts';
import { unreachableLedger } from '../../../fixtures/test-ledger.ts';

const federation = await TestFederation.create({ nodes: ['eu', 'us'], signerOf: nativeSigner });
const roster = federation.chain.current;

function open(id: string, operatorId: EntityId | undefined): string {
  const ledger = { ...unreachableLedger().config(0), operatorId: operatorId ?? entityId('0.0.1') };
  return rosterLedger({ id: nodeId(id), ledger, production: false }, roster).operatorId;
}

test('a node pays with an account that the roster names as its own, or does not start', () => {
  const [eu, us] = ['eu', 'us'].map((node) => federation.member(node).member.accounts[0]);
  assert.is(open('eu', eu), eu);
  for (const [id, operatorId, named] of [
    ['eu', us, eu],
    ['eu', undefined, eu],
    ['jp', eu, 'none'],
  ] as const) {
    assert.throws(
      () => open(id, operatorId),
      (error: unknown) =>
        error instanceof LedgerConfigError &&
        error.message ===
          `LEDGER_OPERATOR_ID ${operatorId ?? '0.0.1'} is no account of ${id}: the roster names ${named}`,
    );
  }
});

test.run();
