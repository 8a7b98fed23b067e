import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isTransactionId,
  LedgerError,
  type LedgerClient,
  transactionId,
} from '../../../../node/anchoring/ledger/ledger-client.ts';
import { until } from '../../../fixtures/until.ts';

/** What a client is tried against: a ledger whose topic can be counted, and clients that it must refuse. */
export interface ConformanceSubject {
  readonly client: LedgerClient;
  /** Pays from an account that holds next to nothing. */
  readonly poor: LedgerClient;
  /** Signs with a key that is not the account's. */
  readonly impostor: LedgerClient;
  /** Of an account and a topic that are fine, without the key that the topic asks for. */
  readonly unauthorised: LedgerClient;
  /** Of a ledger that does not answer. */
  readonly unreachable: LedgerClient;
  readonly countOf: (message: string) => Promise<number>;
}

/** Every implementation of `LedgerClient` passes these. */
export function conform(test: Test, subject: () => ConformanceSubject): void {
  test('prepares distinct ids and a validity in the future', async () => {
    const { client } = subject();
    const prepared = await Promise.all(Array.from({ length: 20 }, (_, i) => client.prepare(`id ${i}`)));
    assert.is(new Set(prepared.map((one) => one.transactionId)).size, 20);
    for (const one of prepared) {
      assert.ok(isTransactionId(one.transactionId));
      assert.ok(one.validUntil > Date.now() / 1000);
    }
  });

  test('the same bytes sent many times are accepted each time and stand on the topic once', async () => {
    const { client, countOf } = subject();
    const prepared = await client.prepare('many times');
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => client.submit(prepared)));
    assert.equal(outcomes, ['accepted', 'accepted', 'accepted', 'accepted']);
    await until('receipt', async () => (await client.receipt(prepared.transactionId)).kind === 'landed');
    assert.is(await client.submit(prepared), 'accepted');
    await until('read', async () => (await countOf('many times')) === 1);
  });

  test('the receipt of an id that was never sent is unknown', async () => {
    const { client } = subject();
    const { transactionId: id } = await client.prepare('never sent');
    assert.equal(await client.receipt(id), { kind: 'unknown' });
  });

  test('permanent refusals are typed and tell the status', async () => {
    const { poor, impostor } = subject();
    await refused(poor, 'INSUFFICIENT_PAYER_BALANCE');
    await refused(impostor, 'INVALID_SIGNATURE');
  });

  test('bytes that are no transaction are refused as such', async () => {
    const { client } = subject();
    const prepared = await client.prepare('broken');
    const code = await client.submit({ ...prepared, bytes: 'AAAA' }).then(String, codeOf);
    assert.is(code, 'UNUSABLE_TRANSACTION');
    assert.throws(() => transactionId('0.0.1001@12'), /not a transaction id/);
  });

  test('a message that is too long is refused before anything is signed', async () => {
    assert.is(await subject().client.prepare('x'.repeat(701)).then(String, codeOf), 'MESSAGE_SIZE_TOO_LARGE');
  });

  test('a failure at consensus is told by the receipt, with its status', async () => {
    const { unauthorised } = subject();
    const prepared = await unauthorised.prepare('without the submit key');
    assert.is(await unauthorised.submit(prepared), 'accepted');
    await until('receipt', async () => (await unauthorised.receipt(prepared.transactionId)).kind !== 'unknown');
    assert.equal(await unauthorised.receipt(prepared.transactionId), { kind: 'failed', code: 'INVALID_SIGNATURE' });
  });

  test('a ledger that does not answer is ambiguous, never an error, and the signal ends the wait', async () => {
    const { unreachable } = subject();
    const prepared = await unreachable.prepare('nobody there');
    assert.is(await unreachable.submit(prepared, AbortSignal.timeout(200)), 'ambiguous');
    assert.is((await unreachable.receipt(prepared.transactionId, AbortSignal.timeout(200))).kind, 'unknown');
  });
}

async function refused(client: LedgerClient, code: string): Promise<void> {
  assert.is(await client.submit(await client.prepare('refused')).then(String, codeOf), code);
}

function codeOf(error: unknown): string {
  return error instanceof LedgerError ? error.code : String(error);
}
