import { request } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Listener } from '../../../node/http/server.ts';
import { openPaymentRooms, type PaymentMeans, type PaymentRooms, type Till } from '../../../node/payment-rooms.ts';
import type { Intake } from '../../../node/intake/intake.ts';
import type { SignedAuthorization } from '../../../node/payments/processor.ts';
import { encodeHeader } from '../../../protocol/payments/header.ts';
import { wireAuthorization } from '../../../protocol/payments/payment.ts';
import { freePort } from '../../fixtures/ports.ts';
import { IntakeRoom, NODE, temporaryDirectory } from '../intake/intake-room.ts';
import { NOTE_PATH, NOTE_TERMS, openNoteShop } from './note-shop.ts';
import { PAYLOAD_KEY } from './payment-room.ts';

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
  readonly rooms: PaymentRooms;
  readonly till: Till;
  readonly intake: Intake;
}

const log = pino({ level: 'silent' });

/** A shop of notes over real rooms and a real store, paid by whatever means. */
export class FaultsRoom implements AsyncDisposable {
  readonly port: number;
  /** Called in the middle of the work, after its record was prepared. */
  meanwhile: () => Promise<void> = () => Promise.resolve();
  /** Times that the work ran. */
  runs = 0;
  readonly #parts: AsyncDisposableStack;
  readonly #payTo: string;
  readonly #rooms: PaymentRooms;
  readonly #till: Till;
  readonly #intake: Intake;

  private constructor({ port, payTo, parts, rooms, till, intake }: Opened) {
    this.port = port;
    this.#payTo = payTo;
    this.#parts = parts;
    this.#rooms = rooms;
    this.#till = till;
    this.#intake = intake;
  }

  /** The means end with the room. */
  static async open(means: PaymentMeans): Promise<FaultsRoom> {
    await using opening = new AsyncDisposableStack();
    const directory = opening.use(await temporaryDirectory());
    const intake = opening.use(await IntakeRoom.open(join(directory.path, 'home')));
    const rooms = await openPaymentRooms({
      store: intake.store,
      node: NODE,
      payloadKey: PAYLOAD_KEY,
      intake: intake.intake,
      now: Date.now,
      log,
      means,
    });
    if (rooms.till === null) throw new Error('no till');
    const till = opening.use(rooms.till);
    await till.start();
    const port = await freePort();
    const { payTo } = means;
    const room = new FaultsRoom({ port, payTo, rooms, till, intake: intake.intake, parts: opening.move() });
    room.#parts.use(await room.#openShop(till));
    return room;
  }

  /** Payments in the ledger. */
  get settlements(): number {
    return this.#rooms.settlements.head.entries;
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
    return this.#till.payments.idle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }

  #openShop(till: Till): Promise<Listener> {
    const onWork = (): Promise<void> => {
      this.runs++;
      return this.meanwhile();
    };
    return openNoteShop({ till, port: this.port, log, onWork });
  }
}
