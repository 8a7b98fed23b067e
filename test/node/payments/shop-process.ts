import { pino } from 'pino';
import { paymentsConfig } from '../../../node/config/payments-config.ts';
import { openPaymentMeans, openPaymentServices } from '../../../node/payments/payment-services.ts';
import { IntakeFixture, NODE } from '../intake/intake-fixture.ts';
import { openNoteShop } from './note-shop.ts';
import { PAYLOAD_KEY } from './payment-fixture.ts';

/**
 * Sells notes until it is killed: `shop-process DIRECTORY PORT RPC_URL PAY_TO FACILITATOR_KEY`. Tells when it is open.
 */
const [, , directory = '', port = '', rpcUrl = '', payTo = '', key = ''] = process.argv;
const log = pino({ level: 'silent' });
const fixture = await IntakeFixture.open(directory);
const payments = paymentsConfig({ RPC_URL: rpcUrl, PAY_TO: payTo, FACILITATOR_KEY: key });
const { paymentService } = await openPaymentServices({
  store: fixture.store,
  node: NODE,
  payloadKey: PAYLOAD_KEY,
  intake: fixture.intake,
  now: Date.now,
  isClockRight: () => true,
  log,
  means: openPaymentMeans({ payments, production: false }, log),
});
if (paymentService === null) throw new Error('no till');
await paymentService.start();
await openNoteShop({ paymentService, port: Number(port), log, onWork: () => Promise.resolve() });
console.log('open');
