import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FacilitatorFault, FacilitatorServer } from '../../../cluster/chain/facilitator-server.ts';
import { openChainClient } from '../../../node/payments/facilitator/chain-client.ts';
import { EvmChainReader } from '../../../node/payments/facilitator/evm-chain-reader.ts';
import { checkPayerSignature } from '../../../node/payments/facilitator/payer-signature.ts';
import { HttpFacilitator } from '../../../node/payments/facilitator/http-facilitator.ts';
import { openPaymentBackend } from '../../../node/payments/facilitator/payment-backend.ts';
import type { SettlementMeans } from '../../../node/payments/facilitator/contract.ts';
import type { PaymentMeans } from '../../../node/payments/payment-services.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { signAuthorization } from '../../fixtures/chain-payer.ts';
import { freePort } from '../../fixtures/ports.ts';
import { until } from '../../fixtures/until.ts';
import { FaultsFixture } from './faults-fixture.ts';
import { NOTE_PRICE } from './note-shop.ts';

/** A service that says nothing is given up on after so long. In milliseconds. */
const SETTLE_MS = 800;
const RETRY_MS = 15_000;
const PAUSES = { calmMs: 50, firstMs: 20, mostMs: 100 };

/** What goes wrong; whether the payer may be told that nothing was charged; whether the payee has the money by then. */
const FAULTS: readonly (readonly [fault: FacilitatorFault, told: readonly number[], isPaid: boolean])[] = [
  ['refuse', [402], false],
  ['error', [503], false],
  ['hang', [503], false],
  ['error-after', [200, 503], true],
  ['unavailable-after', [200, 503], true],
  ['hang-after', [200, 503], true],
  ['close-after', [200, 503], true],
  ['nonsense-after', [200, 503], true],
];

const chain = await TestChain.start({ facilitators: [...FAULTS.map(([fault]) => fault), 'own'] });

test.after(() => chain[Symbol.asyncDispose]());

/** A shop that has its payments settled by a service. */
function openFixture(url: string): Promise<FaultsFixture> {
  const facilitator = new HttpFacilitator({ url, headers: {}, settleMs: SETTLE_MS });
  const reader = new EvmChainReader({ client: openChainClient(chain.rpcUrl), settlers: facilitator.settlers });
  const parts = { facilitator, chain: reader };
  const settlement: SettlementMeans = {
    isReady: true,
    ...parts,
    checkSignature: (payment, terms) => checkPayerSignature(parts, payment, terms),
  };
  return FaultsFixture.open({ settlement, payTo: chain.payTo, backend: null });
}

function openService(key: string, port = 0): Promise<FacilitatorServer> {
  return FacilitatorServer.start({ rpcUrl: chain.rpcUrl, key: chain.key(key), port });
}

/** Means that watch whether the service is there. */
function watching(url: string): PaymentMeans {
  const config = { ...chain.config('own'), facilitator: { kind: 'http' as const, url, headers: {} } };
  const backend = openPaymentBackend({ config, log: pino({ level: 'silent' }), isProduction: false, pauses: PAUSES });
  return { settlement: backend, payTo: chain.payTo, backend };
}

async function paymentIn(
  fixture: FaultsFixture,
): Promise<{ readonly header: string; readonly paid: () => Promise<bigint> }> {
  const wallet = await chain.wallet('0.001');
  const signed = await signAuthorization(wallet, { to: chain.payTo, value: NOTE_PRICE });
  return { header: fixture.headerOf(signed), paid: async () => NOTE_PRICE - (await chain.balanceOf(wallet.address)) };
}

/** Shows the same payment until it is answered; the statuses on the way. */
async function answered(fixture: FaultsFixture, header: string): Promise<number[]> {
  const statuses: number[] = [];
  await until(
    'the payment is answered',
    async () => {
      const { status } = await fixture.ask(header);
      statuses.push(status);
      return status === 200;
    },
    RETRY_MS,
  );
  return statuses;
}

test('facilitator refusing, 500, hanging, and all of these after settling: one charge, one run, one answer', async () => {
  const before = await chain.balanceOf(chain.payTo);
  await Promise.all(
    FAULTS.map(async ([fault, told, isPaid]) => {
      await using service = await openService(fault);
      await using fixture = await openFixture(service.url);
      const { header, paid } = await paymentIn(fixture);
      service.fault = fault;
      const first = await fixture.ask(header);
      assert.ok(told.includes(first.status), `${fault}: ${first.text}`);
      if (first.status !== 200) assert.not.match(first.text, /att_/, fault);
      assert.is(await paid(), isPaid ? NOTE_PRICE : 0n, fault);
      service.fault = null;
      const last = (await answered(fixture, header)).at(-1);
      assert.equal([last, await paid(), fixture.runs, fixture.settlements], [200, NOTE_PRICE, 1, 1], fault);
    }),
  );
  assert.is((await chain.balanceOf(chain.payTo)) - before, NOTE_PRICE * BigInt(FAULTS.length));
});

test('facilitator down at boot: 503, nothing free, and sold as soon as it is there', async () => {
  const port = await freePort();
  await using fixture = await FaultsFixture.open(watching(`http://127.0.0.1:${port}`));
  const { header, paid } = await paymentIn(fixture);
  for (const payment of ['', header]) {
    const { status, code, headers } = await fixture.ask(payment);
    assert.equal([status, code], [503, 'payment-unavailable']);
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.equal([await paid(), fixture.runs], [0n, 0]);
  await using service = await openService('own', port);
  assert.ok(service.url.endsWith(String(port)));
  await until('the node names prices', async () => (await fixture.ask('')).status === 402, RETRY_MS);
  assert.is((await fixture.ask(header)).status, 200);
  assert.equal([await paid(), fixture.runs], [NOTE_PRICE, 1]);
});

test('facilitator down later, during the work: 503, and the same payment is answered once it is back', async () => {
  const port = await freePort();
  const service = await openService('own', port);
  await using fixture = await FaultsFixture.open(watching(service.url));
  const { header, paid } = await paymentIn(fixture);
  fixture.meanwhile = () => service[Symbol.asyncDispose]();
  assert.is((await fixture.ask(header)).status, 503);
  fixture.meanwhile = () => Promise.resolve();
  const other = await paymentIn(fixture);
  assert.is((await fixture.ask(other.header)).status, 503, 'nor is anything given to those who come later');
  assert.equal([await paid(), await other.paid(), fixture.runs], [0n, 0n, 1]);
  await using back = await openService('own', port);
  assert.ok(back.url.endsWith(String(port)));
  await answered(fixture, header);
  assert.equal([await paid(), fixture.runs, fixture.settlements], [NOTE_PRICE, 1, 1]);
});

test.run();
