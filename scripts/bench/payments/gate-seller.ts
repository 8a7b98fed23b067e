import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import Type from 'typebox';
import { NO_ADDRESSES } from '../../../node/outbound/address-list.ts';
import { paymentsConfig } from '../../../node/config/payments-config.ts';
import { createApp } from '../../../node/http/app.ts';
import { PaidGate } from '../../../node/http/paid-gate.ts';
import type { PaidRoute, PaidWork } from '../../../node/http/route.ts';
import { listen } from '../../../node/http/server.ts';
import { Intake } from '../../../node/intake/intake.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { openPaymentMeans, openPaymentServices } from '../../../node/payments/payment-services.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { BASE_URL, PLAIN_PATH, RECORD_PATH, type SellerSetup } from './seller-forms.ts';
import { serveSeller } from './seller-process.ts';

const KEY_BYTES = 32;
const NODE = nodeId('eu');

serveSeller(openShop);

/** A node's own paid gate over its own services and a store on the disk, and nothing else of the node. */
async function openShop({ rpcUrl, payTo, key, directory }: SellerSetup): Promise<number> {
  const log = pino({ level: 'silent' });
  const store = await Store.open(join(directory, 'store'));
  const signer = nativeSigner(randomBytes(KEY_BYTES));
  const intake = await Intake.open({
    node: NODE,
    store,
    signer: () => signer,
    cipher: new PayloadCipher(randomBytes(KEY_BYTES)),
    now: Date.now,
    projections: [],
    counters: new RecordCounters(store, []),
    onCommitted: () => undefined,
  });
  intake.start();
  const payments = paymentsConfig({ RPC_URL: rpcUrl, PAY_TO: payTo, FACILITATOR_KEY: key });
  const means = openPaymentMeans({ payments, production: false }, log);
  const payloadKey = randomBytes(KEY_BYTES);
  const { paymentService } = await openPaymentServices({
    store,
    node: NODE,
    payloadKey,
    intake,
    now: Date.now,
    isClockRight: () => true,
    log,
    means,
  });
  if (paymentService === null) throw new Error('no payment service');
  await paymentService.start();
  const paidGate = new PaidGate({
    ...paymentService,
    accounts: { authenticate: async () => 'unknown' },
    auditLog: { note: () => undefined },
    baseUrl: () => BASE_URL,
    trustedProxies: NO_ADDRESSES,
    requireRecording: () => intake.requireCapacity(1),
    requireStorage: () => undefined,
  });
  const gate = { free: refuse, keyed: refuse };
  const routes = [routeOf(PLAIN_PATH, plain), routeOf(RECORD_PATH, recorded)];
  const app = createApp({ gate, paidGate, routes, baseUrl: () => BASE_URL, log, observe: () => undefined });
  const http = { host: '127.0.0.1', port: 0, tls: null, trustedProxies: NO_ADDRESSES };
  return (await listen(app.callback(), http, () => BASE_URL)).port;
}

const plain: PaidWork = async () => ({ body: { success: true } });

const recorded: PaidWork = async ({ account, recording }) => {
  const claims = { channel: 'tiered' } as const;
  const draft = { kind: 'decision', account, sourceId: 'bench', payload: '{}', claims, links: {} } as const;
  const { id } = await recording.prepareOne(draft);
  return { body: { success: true, attestationId: id } };
};

function routeOf(path: string, work: PaidWork): PaidRoute {
  const documentation = { summary: 'Sold', answer: { shape: Type.Object({}), example: {} }, problems: [] };
  return { method: 'POST', path, access: 'paid', service: 'hedera-fact', documentation, prepare: () => work };
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('there is nothing here but what is paid for'));
}
