import type { Sha256Hash } from '../../protocol/hash.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { type Payment, type WalletAddress, walletAddress } from '../../protocol/payments/payment.ts';
import type { ServiceName } from '../../protocol/payments/prices.ts';
import { type PaymentRequirements, termsFault, timeFault } from '../../protocol/payments/terms.ts';
import type { AtomicAmount } from '../../protocol/payments/usdc.ts';
import { Lanes } from '../lanes.ts';
import type { CallsUnderWay } from './calls-under-way.ts';
import type { Cashier, ShownPayment } from './cashier.ts';
import { type Flight, Flights, type IsWanted } from './flights.ts';
import { Interest } from './interest.ts';
import { PaidRecording, type PaidRecordingOptions } from './paid-recording.ts';
import type { BookedPayment, PaymentBook } from './payment-book.ts';
import { PaymentError } from './payment-error.ts';
import { type PaymentKey, keyText, paymentKey, readKeyText } from './payment-key.ts';
import type { PaymentLimits } from './payment-limits.ts';
import { isOpen, type PaymentRow } from './payment-tables.ts';
import type { SignedAuthorization } from './processor.ts';
import type { Settler } from './settler.ts';

/** A call that shows a payment. */
export interface PaidRequest {
  readonly service: ServiceName;
  readonly payment: Payment & Pick<SignedAuthorization, 'listing'>;
  readonly terms: PaymentRequirements;
  /** Hash of method, path, query and body: an authorization pays for one of these. */
  readonly request: Sha256Hash;
  /** Hash of authorization, signature and identifier. */
  readonly proof: Sha256Hash;
  readonly isWanted: IsWanted;
}

/** What a paid call did. `charged: false`: it came to nothing that is worth its price, and is not charged. */
export interface PaidAnswer {
  readonly body: JsonObject;
  readonly charged?: false;
}

/**
 * Does what is paid for. What it throws is not charged, and the payment stays as good as it was. The signal is aborted,
 * with `PaymentError` `abandoned`, when nobody waits for the answer any more: work that throws that reason gives up, and
 * whoever came meanwhile with the same call begins anew.
 */
export type Work = (recording: PaidRecording, signal: AbortSignal) => Promise<PaidAnswer>;

/** That the payee was paid. */
export interface Receipt {
  readonly payer: WalletAddress;
  readonly amount: AtomicAmount;
  readonly asset: string;
  readonly network: string;
  readonly transaction: string;
}

export interface PaidOutcome {
  readonly body: JsonObject;
  /** Null where the call was not charged. */
  readonly receipt: Receipt | null;
  /** Whether this is the answer of an earlier call. */
  readonly isReplay: boolean;
}

export interface PaymentsOptions {
  readonly book: PaymentBook;
  readonly cashier: Cashier;
  readonly settler: Settler;
  readonly limits: Pick<PaymentLimits, 'admitWallet'>;
  readonly underWay: CallsUnderWay;
  readonly intake: PaidRecordingOptions['intake'];
  readonly recordOf: PaidRecordingOptions['recordOf'];
  readonly now: () => number;
}

type CallFlight = Flight<PaidOutcome | undefined>;

/** Callers of one and the same call that may wait for its answer together. */
const MAX_TWINS = 64;

/**
 * Sells answers. Of each authorization: its work is done once, its value is moved at most once and never without the
 * answer being on the disk, and the answer is given to whoever shows the same signature with the same request, whatever
 * stopped in between. One flight at a time works on an authorization; those who come meanwhile with the same call wait
 * for its answer.
 */
export class Payments {
  readonly #options: PaymentsOptions;
  readonly #flights = new Flights<PaidOutcome | undefined>();
  readonly #identifiers = new Lanes();

  constructor(options: PaymentsOptions) {
    this.#options = options;
  }

  /** Whether payments can be taken at present. */
  get isReady(): boolean {
    return this.#options.settler.isReady;
  }

  /**
   * Answers a call. Throws `PaymentError`, `LimitError`, `StoreError` and what the work throws: then nothing was charged,
   * unless it is `outcome-unknown`.
   */
  async take(call: PaidRequest, work: Work): Promise<PaidOutcome> {
    using _place = this.#options.underWay.enter();
    const key = paymentKey(call.payment.authorization, call.terms);
    const name = keyText(key);
    for (;;) {
      const twin = this.#flights.get(name);
      const flight = twin ?? this.#flights.begin(name, call, (own) => this.#run(key, call, work, own));
      const outcome = twin === undefined ? await flight.join(call.isWanted) : await joinTwin(twin, call);
      if (outcome !== undefined) return outcome;
      if (twin === undefined) throw new PaymentError('abandoned');
    }
  }

  /**
   * Finds out what came of a settlement that was begun and is not known to have come to anything. Where somebody is about
   * the payment already, it is left to him. Throws `PaymentError`.
   */
  async reconcile(key: PaymentKey): Promise<void> {
    const name = keyText(key);
    if (this.#flights.get(name) !== undefined) return;
    const flight = this.#flights.begin(name, null, async () => {
      const row = await this.#options.book.read(key);
      if (row !== undefined && mayBePaid(row)) await this.#options.cashier.lookUp({ key, row });
      return undefined;
    });
    await flight.join(() => false);
  }

  /** Resolves when no call that is under way now is any more. */
  idle(): Promise<void> {
    return this.#flights.idle();
  }

  /** Undefined where nobody waits for the answer any more, so that nothing was charged. */
  async #run(key: PaymentKey, call: PaidRequest, work: Work, flight: CallFlight): Promise<PaidOutcome | undefined> {
    const { book, cashier, now } = this.#options;
    const row = await book.read(key);
    if (row === undefined) return this.#pay({ key, row: freshRow(book, call, now()) }, call, work, flight);
    if (row.request !== call.request) throw new PaymentError('bound-elsewhere');
    if (row.proof !== call.proof) throw new PaymentError('refused', 'signature_differs');
    if (row.state === 'settled') return this.#replay({ key, row });
    if (row.state === 'burnt') throw new PaymentError('refused', 'authorization_used');
    if (!isOpen(row)) return this.#pay({ key, row }, call, work, flight);
    return this.#replay({ key, row: await cashier.chargeAgain({ key, row }, shownOf(call)) });
  }

  /** The whole way: verified → work → settled. */
  async #pay(
    payment: BookedPayment,
    call: PaidRequest,
    work: Work,
    flight: CallFlight,
  ): Promise<PaidOutcome | undefined> {
    const { limits, underWay } = this.#options;
    const refusal = await this.#verify(call);
    if (refusal !== null) return this.#refuse(payment, refusal);
    const { payer } = payment.key;
    using _place = underWay.enterWallet(payer);
    limits.admitWallet(payer);
    const { identifier } = payment.row;
    if (identifier === null) return this.#sell(payment, call, work, flight);
    return this.#identifiers.exclusive(`${payer}/${identifier}`, async () => {
      const earlier = await this.#earlier(payment.key, identifier, call);
      return earlier ?? this.#sell(payment, call, work, flight);
    });
  }

  /** Why the payment does not hold; null where it does. Throws `PaymentError` `unavailable`. */
  async #verify({ payment, terms }: PaidRequest): Promise<string | null> {
    const { settler, now } = this.#options;
    const fault = termsFault(payment, terms) ?? timeFault(payment.authorization, Math.floor(now() / 1000));
    if (fault !== null) return fault;
    if (!settler.isReady) throw new PaymentError('unavailable');
    const said = await settler.verify(payment, terms);
    if (said.kind === 'unavailable') throw new PaymentError('unavailable');
    return said.kind === 'valid' ? null : said.reason;
  }

  /** A settlement that was given up as refused may have come through after all; then the payment is as good as paid. */
  async #refuse(payment: BookedPayment, reason: string): Promise<PaidOutcome> {
    if (mayBePaid(payment.row)) {
      const row = await this.#options.cashier.lookUp(payment);
      if (row.state === 'settled') return this.#replay({ key: payment.key, row });
    }
    throw new PaymentError('refused', reason);
  }

  async #sell(
    payment: BookedPayment,
    call: PaidRequest,
    work: Work,
    flight: CallFlight,
  ): Promise<PaidOutcome | undefined> {
    const { book, cashier } = this.#options;
    const { key } = payment;
    const held = await book.answerOf(key);
    const answer = held === undefined ? await this.#work(payment, work, flight) : { body: held };
    if (answer === undefined) return undefined;
    if (answer.charged === false) return { body: answer.body, receipt: null, isReplay: false };
    if (!flight.isWanted) return undefined;
    const row = (await book.read(key)) ?? payment.row;
    const settled = await cashier.charge({ key, row }, shownOf(call), held === undefined ? answer.body : undefined);
    return { body: answer.body, receipt: receiptOf({ key, row: settled }), isReplay: false };
  }

  /** Undefined where the work was given up because nobody waited for it. */
  async #work(payment: BookedPayment, work: Work, flight: CallFlight): Promise<PaidAnswer | undefined> {
    const { book, intake, recordOf } = this.#options;
    const earlier = await book.workOf(payment.key);
    const recording = new PaidRecording({ book, intake, recordOf, payment, work: earlier });
    using interest = new Interest(() => flight.isWanted);
    const { signal } = interest;
    const answer = await work(recording, signal).catch((error: unknown) => {
      if (!signal.aborted || error !== signal.reason) throw error;
    });
    if (answer === undefined) return undefined;
    if (answer.charged === false && recording.hasRecords) throw new RangeError('what was recorded is charged');
    return answer;
  }

  /** The answer of another payment that was made under the same identifier, once this one is verified. */
  async #earlier(key: PaymentKey, identifier: string, call: PaidRequest): Promise<PaidOutcome | undefined> {
    const { book } = this.#options;
    const found = await book.identified(key.payer, identifier);
    const first = found && readKeyText(found.payment);
    if (found === undefined || first === undefined || found.payment === keyText(key)) return undefined;
    if (found.request !== call.request) throw new PaymentError('identifier-conflict');
    let row = await book.read(first);
    if (row !== undefined && mayBePaid(row)) {
      // A flight of one that is not open may wait for this very lane.
      if (isOpen(row)) await this.#flights.get(found.payment)?.over();
      await this.reconcile(first);
      row = await book.read(first);
    }
    if (row?.state === 'settled') return this.#replay({ key: first, row });
    if (row !== undefined && isOpen(row)) throw new PaymentError('outcome-unknown');
    return undefined;
  }

  async #replay(payment: BookedPayment): Promise<PaidOutcome> {
    const body = await this.#options.book.answerOf(payment.key);
    if (body === undefined) throw new PaymentError('answer-ended');
    return { body, receipt: receiptOf(payment), isReplay: true };
  }
}

/** The answer of the flight where the call is its twin; undefined where it has none for it. */
async function joinTwin(flight: CallFlight, call: PaidRequest): Promise<PaidOutcome | undefined> {
  const { claim } = flight;
  if (claim !== null && claim.request !== call.request) throw new PaymentError('bound-elsewhere');
  if (claim?.proof === call.proof) {
    if (flight.callers >= MAX_TWINS) throw new PaymentError('wallet-busy');
    return flight.join(call.isWanted);
  }
  await flight.over();
  return undefined;
}

function freshRow(book: PaymentBook, call: PaidRequest, now: number): PaymentRow {
  const { service, request, proof, terms, payment } = call;
  return book.fresh({
    request,
    proof,
    service,
    amount: terms.amount,
    payTo: walletAddress(terms.payTo),
    validBefore: payment.authorization.validBefore,
    since: now,
    identifier: payment.identifier,
  });
}

function shownOf({ payment, terms }: PaidRequest): ShownPayment {
  return { signed: payment, terms };
}

/** What a facilitator said that it did not send may have come through after all. */
function mayBePaid(row: PaymentRow): boolean {
  return isOpen(row) || (row.state === 'unpaid' && row.attempts > 0);
}

function receiptOf({ key, row }: BookedPayment): Receipt {
  if (row.settlement === null) throw new RangeError('a payment that is not settled has no receipt');
  const { payer, asset, network } = key;
  return { payer, amount: row.amount, asset, network, transaction: row.settlement.transaction };
}
