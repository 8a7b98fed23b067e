import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import { DEFAULT_MAX_DEPTH } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { PAYMENT_SIGNATURE_HEADER } from '../../protocol/payments/header.ts';
import {
  parsePayment,
  type Payment,
  PaymentFormatError,
  type WalletAddress,
  wireAuthorization,
} from '../../protocol/payments/payment.ts';
import { type Demand, requirementsOf, resourceOf } from '../../protocol/payments/terms.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import type { Caller } from '../accounts/caller.ts';
import { WALLET_ALLOWANCE } from '../accounts/limits/allowances.ts';
import type { Addresses } from '../accounts/limits/client-address.ts';
import type { Holder } from '../accounts/limits/holder-counts.ts';
import { requestsOf, weightOf } from '../accounts/limits/route-weights.ts';
import { NOTHING_HELD } from '../concurrency/held.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Offer, PaidRequest } from '../payments/paid-request.ts';
import type { AdmittedPayment, PaymentLimits } from '../payments/payment-admission.ts';
import { PaymentError } from '../payments/payment-error.ts';
import type { Payments } from '../payments/payments.ts';
import { askerOf, noteAsker, noteCounted } from './asked-work.ts';
import { callerAddress } from './authentication.ts';
import {
  type BodyLimits,
  type ItemLimits,
  MAX_BODY_BYTES,
  MAX_BODY_VALUES,
  parseJsonBody,
  readJsonText,
  RECORDS_UNDER_WORK,
} from './body.ts';
import { problemOf } from './domain-problems.ts';
import { recovering, strangerAt } from './gate.ts';
import type { SplitText } from './item-splitter.ts';
import { parsePart, partText, readLongBody, splitItems } from './long-body.ts';
import { demandAnswer, paidAnswer } from './payment-answers.ts';
import { Problem, type ProblemCode, toProblem } from './problem.ts';
import type { Answer, BodyItems, Call, PaidRoute, PaidWork } from './route.ts';

/** The body of a paid call. Holds a place among the bodies under work until it is disposed. */
interface PaidBody extends Disposable {
  /** How long it is. */
  readonly bytes: number;
  /** SHA-256 of the bytes as they came, in hex. */
  readonly digest: string;
  /** Throws `Problem` `invalid-json`, `invalid-field` or `payload-too-large`, which name the item at fault. */
  parse(): Promise<ParsedBody>;
}

interface ParsedBody {
  readonly value: JsonObject;
  readonly items: BodyItems;
}

/** Bounds on the items, and who answers for what they take. */
interface HeldItems extends ItemLimits {
  readonly holder: Holder;
}

/** The items' own nesting: they stand in a member of the body. */
const ITEM_DEPTH = DEFAULT_MAX_DEPTH - 2;
/** Of a body without a long member. */
export const NO_ITEMS: BodyItems = { each: () => Promise.resolve() };

/**
 * The body of a request that may be tens of megabytes long, read and hashed in slices; it is split where it is asked
 * for, and its items are parsed one by one. Throws what `readJsonBody` throws before it parses.
 */
async function readSplitBody(request: IncomingMessage, body: BodyLimits, limits: HeldItems): Promise<PaidBody> {
  using holding = new DisposableStack();
  const long = holding.use(await readLongBody(request, body, limits.holder));
  const digest = await long.digest();
  const place = holding.move();
  return {
    bytes: long.bytes.length,
    digest,
    parse: async () => parsed(await splitItems(long.bytes, limits), limits),
    [Symbol.dispose]: () => place.dispose(),
  };
}

function parsed({ skeleton, items }: SplitText, { member, maxValues }: ItemLimits): ParsedBody {
  const value = parsePart(partText(skeleton, 'The body'), DEFAULT_MAX_DEPTH, MAX_BODY_VALUES, 'The body');
  if (!isJsonObject(value)) throw new Problem('invalid-json', 'The body must be a JSON object.');
  const each: BodyItems['each'] = (work) =>
    new TimeSlices().each(items, (item, index) => {
      const name = `${member}[${index}]`;
      work(parsePart(partText(item, name), ITEM_DEPTH, maxValues, name), index);
    });
  return { value, items: { each } };
}

export interface PaidGateOptions {
  readonly payments: Pick<Payments, 'admit' | 'isTakenOn' | 'take' | 'isReady'>;
  readonly paymentLimits: Pick<PaymentLimits, 'admitChallenge' | 'admitPayment' | 'noteRefusal' | 'noteUnpaid'>;
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly auditLog: Pick<AuditLog, 'note'>;
  /** Address that is paid. */
  readonly payTo: string;
  /** Public address of the node as the roster in force has it, without a slash at its end. */
  readonly baseUrl: () => string;
  /** The operator's proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: Addresses;
  /** Throws where the node can make no record now. */
  readonly requireRecording: () => void;
  /** Throws where the node has no storage left for what a paid call leaves. */
  readonly requireStorage: () => void;
  /** Declarations of x402 extensions for a route, beside `payment-identifier`. */
  readonly extensionsOf?: (route: PaidRoute) => JsonObject;
}

/** Several long bodies that are made into records in turns would all be in memory, ten times as long as they came. */
const LONG_BODIES = new Semaphore({ places: 1 });

/**
 * A turn among the bodies that may be long, until it is disposed; other routes have none to wait for. Rejects with the
 * signal's reason.
 */
async function turnOf({ body }: PaidRoute, signal?: AbortSignal): Promise<Disposable> {
  return body?.items === undefined ? NOTHING_HELD : LONG_BODIES.enter(signal);
}

/** What a route makes of a body. */
async function prepared(route: PaidRoute, call: Call, body: PaidBody): Promise<PaidWork> {
  using _turn = await turnOf(route);
  const { value, items } = await body.parse();
  return await route.prepare(call, value, items);
}

/** A request of a paid route, as it came. */
interface Visit {
  readonly call: Call;
  readonly route: PaidRoute;
  readonly address: string;
  /** Empty where no payment is shown. */
  readonly shown: string;
  /** Whose API key came along, if it is known. It pays for nothing. */
  readonly caller: Caller | null;
  /** Public address of what is paid for: of this node's own making, whatever host the request names. */
  readonly url: string;
}

/** How long work may take: an authorization lives five minutes, and its settlement comes after. In milliseconds. */
const WORK_MS = 120_000;
/** Longer texts are no API keys, and are not worth hashing. */
const MAX_KEY_CHARACTERS = 256;
/** When payments that are out of order may be in order again. In seconds. */
const RETRY_SECONDS = 5;
const DEMAND_STATUS = 402;
const BUSY_STATUS = 429;
/**
 * What else a payment ends in that is shown only to be looked at; anyone who sends no body has a place for nothing
 * meanwhile.
 */
const UNSOUND: ReadonlySet<ProblemCode> = new Set(['payment-invalid', 'payment-bound-elsewhere', 'request-timeout']);

/**
 * What stands before a paid route, cheap refusals first: path (404, 400) → not for sale (503) → no payment (402) →
 * payment that cannot be read (400) → made out for another resource or to other terms, or not signed by its payer (402)
 * → the stored answer, where it was shown before → body (400) → not covered by what the wallet has (402) → work →
 * settlement → records → answer.
 */
export class PaidGate {
  readonly #options: PaidGateOptions;

  constructor(options: PaidGateOptions) {
    this.#options = options;
  }

  /** A 402 is an answer; what else is refused is thrown: `Problem`, and what the services below throw. */
  async answer(call: Call, route: PaidRoute): Promise<Answer> {
    call.context.vary(PAYMENT_SIGNATURE_HEADER);
    await route.checkPath?.(call);
    const visit = await this.#visit(call, route);
    let status = 500;
    try {
      using _place = await call.enter();
      const answer = await this.#sell(visit);
      status = answer.status ?? 200;
      return answer;
    } catch (thrown) {
      const problem = toProblem(problemOf(thrown));
      status = problem.status;
      this.#noteRefusal(visit, problem);
      if (status !== DEMAND_STATUS) throw problem;
      return demandAnswer(this.#demandOf(visit), problem, requestIdOf(call.context));
    } finally {
      this.#noteUse(visit, status);
    }
  }

  async #visit(call: Call, route: PaidRoute): Promise<Visit> {
    const { context } = call;
    const address = callerAddress(context.req, this.#options.trustedProxies);
    noteAsker(context.req, strangerAt(address));
    return {
      call,
      route,
      address,
      // Nothing of an answer to HEAD is delivered, so none is sold.
      shown: context.method === 'HEAD' ? '' : context.get(PAYMENT_SIGNATURE_HEADER),
      caller: await this.#callerOf(context, address),
      url: this.#options.baseUrl() + context.path,
    };
  }

  async #sell(visit: Visit): Promise<Answer> {
    const { call, route, shown, url, address } = visit;
    const { payments, requireStorage } = this.#options;
    const closed = this.#whyClosed(visit);
    if (shown === '') throw closed ?? new Problem('payment-required', `This call is paid for: ${route.service}.`);
    const offer = this.#read(visit, closed);
    const refusal = closed ?? (offer.payment.resource === url ? null : mismatch(url));
    // What was sold before is owed, whatever can be sold now, and wherever the node is now.
    if (refusal !== null && !(await payments.isTakenOn(offer))) throw refusal;
    using admitted = await this.#admit(visit, offer);
    using body = await this.#bodyOf(visit);
    admitted.prepare(body.bytes);
    // The key may have ended while the body arrived.
    const caller = await this.#callerOf(call.context, address);
    const payer = offer.payment.authorization.from;
    const tenant = caller !== null && caller.key.scopes.includes('attest:write') ? caller : null;
    const account = tenant?.account.id ?? walletAccount(payer);
    const outcome = await payments.take(this.#requestOf(visit, offer, body.digest), async () => {
      const work = await prepared(route, call, body);
      return async (recording, unwanted) => {
        using _turn = await turnOf(route, unwanted);
        // Without storage nothing new is sold; what was paid for is still answered.
        requireStorage();
        const signal = AbortSignal.any([unwanted, AbortSignal.timeout(WORK_MS)]);
        if (tenant !== null) recording.ownedBy(tenant.account);
        return await work({ payer, account, caller: tenant, recording, signal });
      };
    });
    return paidAnswer(outcome);
  }

  /** From here on it is the wallet that answers for the call: it has signed. */
  async #admit({ call: { context } }: Visit, offer: Offer): Promise<AdmittedPayment> {
    const { from } = offer.payment.authorization;
    try {
      const admitted = await this.#options.payments.admit(offer);
      noteAsker(context.req, { kind: 'wallet', id: from });
      noteCounted(context.req);
      return admitted;
    } catch (error) {
      if (error instanceof PaymentError && error.code === 'wallet-busy') {
        noteAsker(context.req, { kind: 'wallet', id: from });
      }
      throw error;
    }
  }

  /** Read and not yet parsed: held until the call is answered. */
  async #bodyOf({ call: { context }, route: { method, body } }: Visit): Promise<PaidBody> {
    if (method !== 'POST') return wholeBody('', () => ({}));
    const { req } = context;
    if (body?.items !== undefined) return readSplitBody(req, body, { ...body.items, holder: askerOf(req) });
    const limits = body ?? { maxBytes: MAX_BODY_BYTES };
    const text = await readJsonText(req, limits);
    const claimed = RECORDS_UNDER_WORK.enter(text.length, askerOf(req));
    return wholeBody(text, () => parseJsonBody(text, limits), claimed);
  }

  /**
   * Why nothing can be sold now, what is thrown then; null where it can. Throws where the address has asked for prices,
   * or shown payments that do not hold, too often.
   */
  #whyClosed({ call: { context }, address, caller, route, shown }: Visit): unknown {
    const { payments, paymentLimits } = this.#options;
    if (caller === null && shown === '') paymentLimits.admitChallenge(address);
    if (caller === null && shown !== '') paymentLimits.admitPayment(address);
    if (caller === null || caller.account.tier === 'unmetered') noteCounted(context.req);
    try {
      route.requireReady?.();
      this.#options.requireRecording();
    } catch (error) {
      return error;
    }
    if (payments.isReady) return null;
    const headers = { 'Retry-After': String(RETRY_SECONDS) };
    return new Problem('payment-unavailable', 'Payments cannot be taken at the moment.', { headers });
  }

  #read({ shown, route, url }: Visit, closed: unknown): Offer {
    const { service } = route;
    const { extensionsOf } = this.#options;
    const listing = extensionsOf && { resource: resourceOf(service, url), extensions: extensionsOf(route) };
    try {
      const payment = { ...parsePayment(shown), ...(listing === undefined ? {} : { listing }) };
      return { service, payment, terms: requirementsOf(service, this.#options), proof: proofOf(payment) };
    } catch (error) {
      if (!(error instanceof PaymentFormatError)) throw error;
      throw closed ?? new Problem('payment-invalid', `${PAYMENT_SIGNATURE_HEADER}: ${error.message}.`);
    }
  }

  #requestOf({ call: { context } }: Visit, offer: Offer, digest: string): PaidRequest {
    const { method, path, querystring } = context;
    const request = hashText(nativeSuite, [method, path, querystring, digest].join('\n'));
    const { socket } = context.req;
    return { ...offer, request, isWanted: () => !socket.destroyed };
  }

  #demandOf({ route, url }: Visit): Omit<Demand, 'error'> {
    const { payTo, extensionsOf } = this.#options;
    const { service } = route;
    return { service, url, payTo, ...(extensionsOf === undefined ? {} : { extensions: extensionsOf(route) }) };
  }

  async #callerOf(context: Context, address: string): Promise<Caller | null> {
    const apiKey = context.get('x-api-key');
    if (apiKey === '' || apiKey.length > MAX_KEY_CHARACTERS) return null;
    const found = await this.#options.accounts.authenticate(apiKey);
    return typeof found === 'string' || found.addresses?.admits(address) === false ? null : found.caller;
  }

  /**
   * Anyone who shows payments that do not hold, or signs for what comes to nothing, one after another, is held up in
   * the end.
   */
  #noteRefusal({ call: { context }, route, shown, address, caller }: Visit, { status, code }: Problem): void {
    const { paymentLimits } = this.#options;
    const asker = askerOf(context.req);
    const isOwnFault = status >= 400 && status < 500 && status !== BUSY_STATUS;
    if (asker.kind === 'wallet' && isOwnFault) paymentLimits.noteUnpaid(asker.id, requestsFor(context, route));
    if (shown === '' || caller !== null) return;
    if (status === DEMAND_STATUS || UNSOUND.has(code)) paymentLimits.noteRefusal(address);
  }

  #noteUse({ call: { context }, route, address, caller }: Visit, status: number): void {
    if (caller === null) return;
    const action = `${route.method} ${route.path}`;
    const requestId = requestIdOf(context);
    this.#options.auditLog.note(caller.account.id, {
      action,
      address,
      by: caller.key.id,
      requestId,
      status,
      subject: null,
    });
  }
}

/** A body of the usual size, parsed where it is asked for. */
function wholeBody(text: string, parse: () => JsonObject, claimed = NOTHING_HELD): PaidBody {
  return {
    bytes: Buffer.byteLength(text),
    digest: hash('sha256', text, 'hex'),
    parse: async () => ({ value: parse(), items: NO_ITEMS }),
    [Symbol.dispose]: () => claimed[Symbol.dispose](),
  };
}

/**
 * Requests of a wallet's minute that a call takes which is not paid for: by the length of its body, as far as it is
 * told.
 */
function requestsFor({ request: { length } }: Context, route: PaidRoute): number {
  return length === undefined
    ? requestsOf(weightOf(route))
    : Math.max(1, Math.ceil(length / WALLET_ALLOWANCE.unpaidCallBytes));
}

function mismatch(url: string): Problem {
  return new Problem(
    'payment-resource-mismatch',
    `The payment does not name ${url}; it is still good where it belongs.`,
  );
}

/**
 * Who can show the same again is the payer, or whoever he gave it to. Once settled, authorization and signature are on
 * the chain for all to read; a payment identifier is not, and keeps an answer from those who can guess the request.
 */
function proofOf({ authorization, signature, identifier }: Payment): Sha256Hash {
  const secret = identifier === null ? {} : { identifier };
  const shown = { authorization: { ...wireAuthorization(authorization) }, signature, ...secret };
  return hashText(nativeSuite, canonicalize(shown));
}

function requestIdOf(context: Context): string {
  return String(context.response.get('x-request-id'));
}

/** The account that a wallet's records are made under. No account of a tenant can have the name: it holds a colon. */
function walletAccount(payer: WalletAddress): string {
  return `x402:${payer}`;
}

/** `paid`: undefined until the node takes payments, null where it takes none. */
export function startingPaidGate(paid: () => PaidGate | undefined): Pick<PaidGate, 'answer'> {
  return {
    answer(call, route) {
      const gate = paid();
      return gate === undefined ? Promise.reject(recovering()) : gate.answer(call, route);
    },
  };
}
