import { pino } from 'pino';
import { paymentsConfig } from '../../../node/config/payments-config.ts';
import { openPaymentMeans, openPaymentRooms } from '../../../node/payment-rooms.ts';
import { IntakeRoom, NODE } from '../intake/intake-room.ts';
import { openNoteShop } from './note-shop.ts';
import { PAYLOAD_KEY } from './payment-room.ts';

/** Sells notes until it is killed: `shop-process DIRECTORY PORT RPC_URL PAY_TO FACILITATOR_KEY`. Tells when it is open. */
const [, , directory = '', port = '', rpcUrl = '', payTo = '', key = ''] = process.argv;
const log = pino({ level: 'silent' });
const room = await IntakeRoom.open(directory);
const payments = paymentsConfig({ RPC_URL: rpcUrl, PAY_TO: payTo, FACILITATOR_KEY: key });
const { till } = await openPaymentRooms({
  store: room.store,
  node: NODE,
  payloadKey: PAYLOAD_KEY,
  intake: room.intake,
  now: Date.now,
  log,
  means: openPaymentMeans({ payments, production: false }, log),
});
if (till === null) throw new Error('no till');
await till.start();
await openNoteShop({ till, port: Number(port), log, onWork: () => Promise.resolve() });
console.log('open');
