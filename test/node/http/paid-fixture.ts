import { pino } from 'pino';
import Type from 'typebox';
import { AddressList, NO_ADDRESSES } from '../../../node/outbound/address-list.ts';
import type { Accounts } from '../../../node/accounts/accounts.ts';
import type { AuditFacts } from '../../../protocol/audit/entry.ts';
import { createApp } from '../../../node/http/app.ts';
import { PaidGate } from '../../../node/http/paid-gate.ts';
import { Problem } from '../../../node/http/problem.ts';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import type { BodyItems, Documentation, PaidCall, PaidRoute, PaidWork } from '../../../node/http/route.ts';
import { type Listener, listen } from '../../../node/http/server.ts';
import { validator } from '../../../node/http/validation.ts';
import { encodeHeader } from '../../../protocol/payments/header.ts';
import { wireAuthorization } from '../../../protocol/payments/payment.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { callOf, type CallOptions, draftFor, PAY_TO, PaymentFixture } from '../payments/payment-fixture.ts';

export const BASE_URL = 'https://eu.example';
export const TENANT_KEY = 'mk_tenant';
/** The same tenant's, for an address that is not the tests' own. */
export const BOUND_KEY = 'mk_bound';
export const NOTES = '/v1/x402/notes';
/** Takes bodies that may be long. */
export const LISTS = '/v1/x402/lists';

const NoteShape = Type.Object({ note: Type.String({ minLength: 1 }) });
const documentation: Documentation = {
  summary: 'Sells a note',
  params: { name: { description: 'Any.', shape: Type.String(), example: 'a' } },
  answer: { shape: Type.Object({}), example: {} },
  problems: [],
};

/** An answer, read to its end. */
export interface PaidHttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

/** What a refused answer says in short. */
export function told({ status, body }: PaidHttpAnswer): string {
  return `${status} ${String(body.code ?? 'answered')}`;
}

export interface Ask {
  readonly method?: string;
  readonly body?: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Three paid routes over payments whose chain and disk do what they are told. */
export class PaidFixture implements AsyncDisposable {
  readonly fixture: PaymentFixture;
  /** Uses of API keys. */
  readonly used: AuditFacts[] = [];
  /** Calls whose work was begun. */
  readonly worked: PaidCall[] = [];
  work: PaidWork = noteWork;
  /** How a body that may be long is checked before its payment is, and what its work does then. */
  prepare: (body: JsonObject, items: BodyItems) => Promise<void> = () => Promise.resolve();
  make: (items: BodyItems) => Promise<void> = () => Promise.resolve();
  isFull = false;
  /** Whether no record can be made at present. */
  isUnrecording = false;
  /** Whether notes are not for sale at present. */
  isClosed = false;
  /** How often API keys are looked at before they are revoked. */
  keyLooks = Number.POSITIVE_INFINITY;
  /** Public address of the node. */
  baseUrl = BASE_URL;
  readonly #listener: Listener;

  private constructor(fixture: PaymentFixture, listener: Listener) {
    this.fixture = fixture;
    this.#listener = listener;
  }

  static async open(): Promise<PaidFixture> {
    const fixture = await PaymentFixture.open();
    const { promise, resolve } = Promise.withResolvers<PaidFixture>();
    const gate = new PaidGate({
      payments: {
        get isReady() {
          return fixture.opened.payments.isReady;
        },
        admit: (offer) => fixture.opened.payments.admit(offer),
        isTakenOn: (offer) => fixture.opened.payments.isTakenOn(offer),
        take: (call, order) => fixture.opened.payments.take(call, order),
      },
      paymentLimits: fixture.limits,
      accounts: { authenticate: async (text) => (opened.keyLooks-- > 0 ? tenants.authenticate(text) : 'revoked') },
      auditLog: { note: (_account, facts) => void promise.then(({ used }) => used.push(facts)) },
      payTo: PAY_TO,
      baseUrl: () => opened.baseUrl,
      trustedProxies: NO_ADDRESSES,
      requireRecording() {
        if (opened.isUnrecording) throw new IntakeError('clock-off', 'the clock is off');
      },
      requireStorage() {
        if (opened.isFull) throw new Problem('storage-full', 'full');
      },
    });
    const app = createApp({
      gate: { free: (_context, _route, answer) => answer(), keyed: () => Promise.reject(new Error('no keyed route')) },
      paidGate: gate,
      routes: routesOf(() => opened),
      baseUrl: () => BASE_URL,
      log: pino({ level: 'silent' }),
      observe: () => undefined,
    });
    const http = { host: '127.0.0.1', port: 0, tls: null, trustedProxies: NO_ADDRESSES };
    const opened: PaidFixture = new PaidFixture(fixture, await listen(app.callback(), http, () => BASE_URL));
    resolve(opened);
    return opened;
  }

  async ask(path: string, { method = 'POST', body, headers = {}, signal }: Ask = {}): Promise<PaidHttpAnswer> {
    const isText = typeof body === 'string';
    const response = await fetch(`http://127.0.0.1:${this.#listener.port}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? null : isText ? body : JSON.stringify(body),
      signal: signal ?? null,
    });
    const text = await response.text();
    const value: unknown = text === '' ? {} : JSON.parse(text);
    return { status: response.status, headers: response.headers, body: isJsonObject(value) ? value : {} };
  }

  /** Buys a note with a payment for exactly what is asked for, unless it says otherwise. */
  buy(note: string, payment: PaymentOptions = {}, ask: Ask = {}): Promise<PaidHttpAnswer> {
    const headers = { ...paid(NOTES, payment), ...ask.headers };
    return this.ask(NOTES, { body: { note }, ...ask, headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
    await this.fixture[Symbol.asyncDispose]();
  }
}

export interface PaymentOptions extends CallOptions {
  /** Default: that of the path. */
  readonly resource?: string | null;
  readonly change?: (header: JsonObject) => JsonObject;
}

/** The header that pays for a path. */
export function paid(path: string, options: PaymentOptions = {}): Record<string, string> {
  const { payment } = callOf(options);
  const { resource = BASE_URL + path, change = (header) => header, identifier = null } = options;
  const header: JsonObject = {
    x402Version: 2,
    ...(resource === null ? {} : { resource: { url: resource } }),
    accepted: { ...payment.accepted },
    payload: { signature: payment.signature, authorization: { ...wireAuthorization(payment.authorization) } },
    ...(identifier === null
      ? {}
      : { extensions: { 'payment-identifier': { info: { required: false, id: identifier } } } }),
  };
  return { 'payment-signature': encodeHeader(change(header)) };
}

const noteWork: PaidWork = async ({ account, recording }) => {
  const { id } = await recording.prepareOne({ ...draftFor('note'), account });
  return { body: { success: true, attestationId: id } };
};

const tenants: Pick<Accounts, 'authenticate'> = {
  authenticate: async (text) =>
    text === TENANT_KEY || text === BOUND_KEY
      ? {
          caller: {
            account: { id: 'acme', tier: 'developer' },
            key: { id: 'key_1', account: 'acme', scopes: ['attest:write'], sources: null },
          },
          addresses: text === BOUND_KEY ? new AddressList(['192.0.2.1']) : null,
        }
      : 'unknown',
};

function routesOf(opened: () => PaidFixture): readonly PaidRoute[] {
  const validate = validator(NoteShape);
  const work: PaidWork = (paidCall) => {
    opened().worked.push(paidCall);
    return opened().work(paidCall);
  };
  return [
    {
      method: 'POST',
      path: NOTES,
      access: 'paid',
      service: 'hedera-fact',
      documentation,
      requireReady() {
        if (opened().isClosed) throw new Problem('list-unavailable', 'too old');
      },
      prepare(_call, body) {
        validate(body);
        return work;
      },
    },
    {
      method: 'POST',
      path: LISTS,
      access: 'paid',
      service: 'hedera-fact',
      documentation,
      body: { maxBytes: 1 << 20, items: { member: 'notes', maxItems: 10, maxItemBytes: 1_000, maxValues: 100 } },
      async prepare(_call, body, items) {
        await opened().prepare(body, items);
        return async (call) => {
          await opened().make(items);
          return work(call);
        };
      },
    },
    {
      method: 'GET',
      path: `${NOTES}/:name`,
      access: 'paid',
      service: 'hedera-fact',
      documentation,
      checkPath({ params }) {
        if (params.name === 'none') throw new Problem('agent-not-found', 'There is none.');
      },
      prepare: () => work,
    },
  ];
}
