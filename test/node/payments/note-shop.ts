import Type from 'typebox';
import type { Logger } from 'pino';
import { NO_ADDRESSES } from '../../../node/outbound/address-list.ts';
import { createApp } from '../../../node/http/app.ts';
import { PaidGate } from '../../../node/http/paid-gate.ts';
import type { PaidRoute } from '../../../node/http/route.ts';
import { type Listener, listen } from '../../../node/http/server.ts';
import type { PaymentService } from '../../../node/payments/payment-services.ts';
import { encodeHeader } from '../../../protocol/payments/header.ts';
import { wireAuthorization } from '../../../protocol/payments/payment.ts';
import { priceOf } from '../../../protocol/payments/prices.ts';
import { requirementsOf } from '../../../protocol/payments/terms.ts';
import type { SignedAuthorization } from '../../../node/payments/facilitator/contract.ts';
import { draftFor } from './payment-fixture.ts';

export const NOTE_PATH = '/v1/x402/note';
/** Sells the same at the same price. */
export const OTHER_NOTE_PATH = '/v1/x402/other-note';
const SERVICE = 'hedera-fact';
/** Of a note, in the smallest unit. */
export const NOTE_PRICE = BigInt(priceOf(SERVICE));
/** What a note costs, whoever is paid. */
export const NOTE_TERMS = requirementsOf(SERVICE, { payTo: '' });

export interface ShopOptions {
  readonly paymentService: PaymentService;
  readonly port: number;
  readonly log: Logger;
  /** Called for each note, after its record was prepared. */
  readonly onWork: () => Promise<void>;
}

/** Sells notes over a node's till: each is one record, made in the name of the wallet that paid for it. */
export function openNoteShop({ paymentService, port, log, onWork }: ShopOptions): Promise<Listener> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const route: PaidRoute = {
    method: 'POST',
    path: NOTE_PATH,
    access: 'paid',
    service: SERVICE,
    documentation: { summary: 'A note', answer: { shape: Type.Object({}), example: {} }, problems: [] },
    prepare:
      () =>
      async ({ account, recording }) => {
        const { id } = await recording.prepareOne({ ...draftFor('note'), account });
        await onWork();
        return {
          body: { attestationId: id, submittedAt: null },
          blanks: [{ at: ['submittedAt'], is: 'submittedAt' }],
        };
      },
  };
  const paidGate = new PaidGate({
    ...paymentService,
    accounts: { authenticate: async () => 'unknown' },
    auditLog: { note: () => undefined },
    baseUrl: () => baseUrl,
    trustedProxies: NO_ADDRESSES,
    requireRecording: () => undefined,
    requireStorage: () => undefined,
  });
  const gate = {
    free: () => Promise.reject(new Error('nothing is free')),
    keyed: () => Promise.reject(new Error('no keyed route')),
  };
  const app = createApp({
    gate,
    paidGate,
    routes: [route, { ...route, path: OTHER_NOTE_PATH }],
    baseUrl: () => baseUrl,
    log,
    observe: () => undefined,
  });
  return listen(app.callback(), { host: '127.0.0.1', port, tls: null, trustedProxies: NO_ADDRESSES }, () => baseUrl);
}

/** The header that pays for a note at a shop's port. */
export function noteHeader({ authorization, signature }: SignedAuthorization, port: number, payTo: string): string {
  return encodeHeader({
    x402Version: 2,
    resource: { url: `http://127.0.0.1:${port}${NOTE_PATH}` },
    accepted: requirementsOf(SERVICE, { payTo }),
    payload: { signature, authorization: { ...wireAuthorization(authorization) } },
  });
}

export function buyNote(port: number, header: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${NOTE_PATH}`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', 'payment-signature': header },
  });
}
