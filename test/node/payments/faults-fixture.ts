import { request } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Listener } from '../../../node/http/server.ts';
import {
  openPaymentServices,
  type PaymentMeans,
  type PaymentServices,
  type PaymentService,
} from '../../../node/payments/payment-services.ts';
import type { Intake } from '../../../node/intake/intake.ts';
import type { SignedAuthorization } from '../../../node/payments/facilitator/contract.ts';
import { encodeHeader } from '../../../protocol/payments/header.ts';
import { wireAuthorization } from '../../../protocol/payments/payment.ts';
import { freePort } from '../../fixtures/ports.ts';
import { IntakeFixture, NODE, temporaryDirectory } from '../intake/intake-fixture.ts';
import { NOTE_PATH, NOTE_TERMS, openNoteShop } from './note-shop.ts';
import { PAYLOAD_KEY } from './payment-fixture.ts';

export interface Told {
  readonly status: number;
  /** Code of the refusal; empty where there is none. */
  readonly code: string;
  readonly text: string;
  readonly headers: Headers;
}

/** What a payment says beside what was signed. */
export interface Saying {
  readonly path?: string;
  readonly network?: string;
}

interface Opened {
  readonly port: number;
  readonly payTo: string;
  readonly parts: AsyncDisposableStack;
  readonly services: PaymentServices;
  readonly paymentService: PaymentService;
  readonly intake: Intake;
}

const log = pino({ level: 'silent' });

/** A shop of notes over real parts and a real store, paid by whatever means. */
export class FaultsFixture implements AsyncDisposable {
  readonly port: number;
  /** Called in the middle of the work, after its record was prepared. */
  meanwhile: () => Promise<void> = () => Promise.resolve();
  /** Times that the work ran. */
  runs = 0;
  readonly #parts: AsyncDisposableStack;
  readonly #payTo: string;
  readonly #services: PaymentServices;
  readonly #paymentService: PaymentService;
  readonly #intake: Intake;

  private constructor({ port, payTo, parts, services, paymentService, intake }: Opened) {
    this.port = port;
    this.#payTo = payTo;
    this.#parts = parts;
    this.#services = services;
    this.#paymentService = paymentService;
    this.#intake = intake;
  }

  /** The means end with the room. */
  static async open(means: PaymentMeans): Promise<FaultsFixture> {
    await using opening = new AsyncDisposableStack();
    const directory = opening.use(await temporaryDirectory());
    const intake = opening.use(await IntakeFixture.open(join(directory.path, 'home')));
    const services = await openPaymentServices({
      store: intake.store,
      node: NODE,
      payloadKey: PAYLOAD_KEY,
      intake: intake.intake,
      now: Date.now,
      isClockRight: () => true,
      log,
      means,
    });
    if (services.paymentService === null) throw new Error('no till');
    const paymentService = opening.use(services.paymentService);
    await paymentService.start();
    const port = await freePort();
    const { payTo } = means;
    const fixture = new FaultsFixture({
      port,
      payTo,
      services,
      paymentService,
      intake: intake.intake,
      parts: opening.move(),
    });
    fixture.#parts.use(await fixture.#openShop(paymentService));
    return fixture;
  }

  /** Payments in the ledger. */
  get settlements(): number {
    return this.#services.settlements.head.entries;
  }

  /** Records that the node has made. */
  get records(): number {
    return this.#intake.recorded;
  }

  urlOf(path = NOTE_PATH): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** The header that pays, where the payment is good. */
  headerOf({ authorization, signature }: SignedAuthorization, { path, network }: Saying = {}): string {
    return encodeHeader({
      x402Version: 2,
      resource: { url: this.urlOf(path) },
      accepted: { ...NOTE_TERMS, payTo: this.#payTo, ...(network === undefined ? {} : { network }) },
      payload: { signature, authorization: { ...wireAuthorization(authorization) } },
    });
  }

  /** Asks for a note; `payment` is a header, or empty. */
  async ask(payment: string, { path = NOTE_PATH, query = '', body = '{}' } = {}): Promise<Told> {
    const headers = { 'content-type': 'application/json', ...(payment === '' ? {} : { 'payment-signature': payment }) };
    const answer = await fetch(this.urlOf(path) + query, { method: 'POST', body, headers });
    const text = await answer.text();
    const { code } = Object(JSON.parse(text));
    return { status: answer.status, code: typeof code === 'string' ? code : '', text, headers: answer.headers };
  }

  /** Asks, and hangs up as soon as the promise resolves. */
  async askAndLeave(payment: string, when: Promise<void>): Promise<void> {
    const headers = { 'content-type': 'application/json', 'payment-signature': payment };
    const asking = request(this.urlOf(), { method: 'POST', headers }).on('error', () => {});
    asking.end('{}');
    await when;
    const closed = new Promise<void>((resolve) => asking.once('close', () => resolve()));
    asking.destroy();
    await closed;
  }

  /** Resolves when no call is under way. */
  idle(): Promise<void> {
    return this.#paymentService.payments.idle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }

  #openShop(paymentService: PaymentService): Promise<Listener> {
    const onWork = (): Promise<void> => {
      this.runs++;
      return this.meanwhile();
    };
    return openNoteShop({ paymentService, port: this.port, log, onWork });
  }
}
