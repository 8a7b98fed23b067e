import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { isPaymentNonce, walletAddress } from '../../../protocol/payments/payment.ts';
import {
  beginSettlements,
  extendSettlements,
  followSettlements,
  SettlementChainError,
  type SettlementFacts,
  settlementLine,
} from '../../../protocol/payments/settlement.ts';
import { atomicAmount } from '../../../protocol/payments/usdc.ts';
import { timestampOf } from '../../../protocol/time.ts';

const NONCE = `0x${'1'.repeat(64)}`;
if (!isPaymentNonce(NONCE)) throw new Error('no nonce');
const START = Date.UTC(2026, 0, 1);
const FACTS: SettlementFacts = {
  amount: atomicAmount('1000'),
  asset: walletAddress(`0x${'c'.repeat(40)}`),
  network: 'eip155:8453',
  nonce: NONCE,
  payTo: walletAddress(`0x${'f'.repeat(40)}`),
  payer: walletAddress(`0x${'a'.repeat(40)}`),
  service: 'hedera-fact',
  transaction: `0x${'2'.repeat(64)}`,
};

const before = beginSettlements(nativeSuite, nodeId('eu'));
const first = extendSettlements(nativeSuite, before, FACTS, timestampOf(START));

test('a line follows the one before by its number, its hash and its time', () => {
  const next = extendSettlements(nativeSuite, first.end, FACTS, timestampOf(START - 1_000));
  assert.is(next.settlement.at, first.settlement.at, 'a clock that goes back is lifted');
  assert.equal(followSettlements(nativeSuite, before, first.line), first);
  assert.equal(followSettlements(nativeSuite, first.end, next.line), next);
  const { settlement } = next;
  for (const changed of [
    { prev: before.hash, settlement },
    { prev: first.end.hash, settlement: { ...settlement, seq: 3 } },
    { prev: first.end.hash, settlement: { ...settlement, seq: 1 } },
    { prev: first.end.hash, settlement: { ...settlement, at: timestampOf(START - 1) } },
  ]) {
    assert.throws(
      () => followSettlements(nativeSuite, first.end, settlementLine.write(changed)),
      (error: unknown) => error instanceof SettlementChainError,
    );
  }
});

test('no node’s first line passes for another’s', () => {
  const other = beginSettlements(nativeSuite, nodeId('us'));
  assert.throws(
    () => followSettlements(nativeSuite, other, first.line),
    (error: unknown) => error instanceof SettlementChainError,
  );
});

test.run();
