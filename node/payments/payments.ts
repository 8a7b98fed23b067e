import type { Sha256Hash } from '../../protocol/hash.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { type Payment, type WalletAddress, walletAddress } from '../../protocol/payments/payment.ts';
import { isBatchService, type ServiceName } from '../../protocol/payments/prices.ts';
import { type PaymentRequirements, termsFault, timeFault } from '../../protocol/payments/terms.ts';
import type { AtomicAmount } from '../../protocol/payments/usdc.ts';
import type { Intake } from '../intake/intake.ts';
import { Lanes } from '../lanes.ts';
import { type AnswerDraft, type Blank, completeAnswer } from './answer-draft.ts';
import type { CallsUnderWay } from './calls-under-way.ts';
import type { Cashier, ShownPayment } from './cashier.ts';
import { type Flight, Flights, type IsWanted } from './flights.ts';
import { Interest } from './interest.ts';
import type { OpenAuthorizations, Standing } from './open-authorizations.ts';
import { PaidRecording } from './paid-recording.ts';
import { type BookedPayment, type MadeWork, OVER_MARGIN_MS, type PaymentBook } from './payment-book.ts';
import { PaymentError } from './payment-error.ts';
import { type PaymentKey, keyText, paymentKey, readKeyText } from './payment-key.ts';
import type { PaymentLimits } from './payment-limits.ts';
import { isOpen, isUncertain, type PaymentRow } from './payment-tables.ts';
import type { SignedAuthorization } from './processor.ts';
import type { Publisher } from './publisher.ts';
import type { SettlementLedger } from './settlement-ledger.ts';
import type { Settler } from './settler.ts';

/** A payment that is shown for a service. */
export interface Offer {
  readonly service: ServiceName;
  readonly payment: Payment & Pick<SignedAuthorization, 'listing'>;
  readonly terms: PaymentRequirements;
  /** Hash of authorization, signature and identifier. */
  readonly proof: Sha256Hash;
}

/** A call that shows a payment. */
export interface PaidRequest extends Offer {
  /** Hash of method, path, query and body: an authorization pays for one of these. */
  readonly request: Sha256Hash;
  readonly isWanted: IsWanted;
}

/** What a paid call did. `charged: false`: it came to nothing that is worth its price, and is not charged. */
export interface PaidAnswer {
  readonly body: JsonObject;
  /** Members of the body, null as yet, that are known once the records of the call are made. */
  readonly blanks?: readonly Blank[];
  readonly charged?: false;
}

/**
 * Does what is paid for. What it throws is not charged, and the payment stays as good as it was. The signal is aborted,
 * with `PaymentError` `abandoned`, when nobody waits for the answer any more: work that throws that reason gives up, and
 * whoever came meanwhile with the same call begins anew.
 */
export type Work = (recording: PaidRecording, signal: AbortSignal) => Promise<PaidAnswer>;
/** Checks what is asked for, and hands over the work. What it throws is not charged. */
export type Order = () => Promise<Work>;

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
  readonly publisher: Publisher;
  readonly ledger: Pick<SettlementLedger, 'summaryOf'>;
  readonly limits: Pick<PaymentLimits, 'admitWallet'>;
  readonly underWay: CallsUnderWay;
  readonly open: OpenAuthorizations;
  readonly intake: Pick<Intake, 'prepareAll' | 'requireRoom'>;
  readonly now: () => number;
}

type CallFlight = Flight<PaidOutcome | undefined>;

/** Callers of one and the same call that may wait for its answer together. */
const MAX_TWINS = 64;
/** Open payments that are read at once. */
const RESTORED_TOGETHER = 256;

/**
 * Sells answers. Of each authorization: its work is done once and prepared in private, its value is moved at most once and
 * never without answer and records being on the disk, the records are made once it is moved and never otherwise, and the
 * answer is given to whoever shows the same signature with the same request, whatever stopped in between. One flight at a
 * time works on an authorization; those who come meanwhile with the same call wait for its answer.
 */
export class Payments {
  readonly #options: PaymentsOptions;
  readonly #flights = new Flights<PaidOutcome | undefined>();
  readonly #identifiers = new Lanes();

  private constructor(options: PaymentsOptions) {
    this.#options = options;
  }

  /** Goes on with what is open in the book. Costs what is open. */
  static async open(options: PaymentsOptions): Promise<Payments> {
    const payments = new Payments(options);
    await payments.#restore();
    return payments;
  }

  /** Whether payments can be taken at present. */
  get isReady(): boolean {
    return this.#options.settler.isReady;
  }

  /** Whether a payment was taken on before, by whoever shows it: then its answer is owed, or being found out. */
  async isTakenOn({ payment, terms, proof }: Offer): Promise<boolean> {
    const key = paymentKey(payment.authorization, terms);
    if (this.#flights.get(keyText(key))?.claim?.proof === proof) return true;
    return (await this.#options.book.read(key))?.proof === proof;
  }

  /**
   * Lets a payment in whose payer has signed it, for one call, until it is disposed: before anything else of the call is
   * looked at. Throws `PaymentError` and `LimitError`.
   */
  async admit(offer: Offer): Promise<Disposable> {
    const { payment, terms, proof, service } = offer;
    const { book, ledger, limits, underWay, open } = this.#options;
    const key = paymentKey(payment.authorization, terms);
    const row = await book.read(key);
    if (row !== undefined && row.proof !== proof) throw new PaymentError('refused', 'signature_differs');
    using entering = new DisposableStack();
    if (row === undefined) {
      const isTwin = this.#flights.get(keyText(key))?.claim?.proof === proof;
      if (!isTwin) await this.#requireSignature(offer);
      const { payer } = key;
      const isNewcomer = (await ledger.summaryOf(payer)) === undefined;
      entering.use(underWay.enterWallet(payer));
      entering.use(
        open.enter({ payer, name: keyText(key), amount: terms.amount, isBatch: isBatchService(service), isNewcomer }),
      );
      if (!isTwin) limits.admitWallet(payer);
    }
    const place = entering.move();
    return { [Symbol.dispose]: () => place.dispose() };
  }

  /**
   * Answers a call whose payment was admitted. Throws `PaymentError`, `IntakeError`, `StoreError` and what order and work
   * throw: then nothing was charged, unless it is `outcome-unknown` or `not-published`.
   */
  async take(call: PaidRequest, order: Order): Promise<PaidOutcome> {
    using _place = this.#options.underWay.enter();
    const key = paymentKey(call.payment.authorization, call.terms);
    const name = keyText(key);
    for (;;) {
      const twin = this.#flights.get(name);
      const flight = twin ?? this.#begin(key, call, (own) => this.#run(key, call, order, own));
      const outcome = twin === undefined ? await flight.join(call.isWanted) : await joinTwin(twin, call);
      if (outcome !== undefined) return outcome;
      if (twin === undefined) throw new PaymentError('abandoned');
    }
  }

  /**
   * Brings a payment further that nobody asks for: finds out what came of an open one, and makes the records of a settled
   * one. Where somebody is about the payment already, it is left to him. Throws `PaymentError`.
   */
  async reconcile(key: PaymentKey): Promise<void> {
    // What was refused is asked for once it is over: until then its payer may still show it.
    const isDue = (row: PaymentRow) =>
      row.state !== 'unpaid' || this.#options.now() >= row.validBefore * 1_000 + OVER_MARGIN_MS;
    await this.#bringOn(key, isDue);
  }

  /** Lets go of what is held for a payment until then. `end`: in epoch milliseconds. */
  async end(key: PaymentKey, end: number): Promise<void> {
    const name = keyText(key);
    for (let busy = this.#flights.get(name); busy !== undefined; busy = this.#flights.get(name)) await busy.over();
    const flight = this.#begin(key, null, async () => {
      const row = await this.#options.book.read(key);
      if (row !== undefined) await this.#options.book.endHeld({ key, row }, end);
      return undefined;
    });
    await flight.join(() => false);
  }

  /** Resolves when no call that is under way now is any more. */
  idle(): Promise<void> {
    return this.#flights.idle();
  }

  async #bringOn(key: PaymentKey, isDue: (row: PaymentRow) => boolean = () => true): Promise<void> {
    if (this.#flights.get(keyText(key)) !== undefined) return;
    const flight = this.#begin(key, null, async () => {
      const { book, cashier } = this.#options;
      let row = await book.read(key);
      if (row !== undefined && isOpen(row) && isDue(row)) row = await cashier.lookUp({ key, row });
      if (row?.state === 'settled') await this.#publish({ key, row });
      return undefined;
    });
    await flight.join(() => false);
  }

  /** Afterwards the wallet's open authorizations are what the disk says. */
  #begin(
    key: PaymentKey,
    claim: Pick<PaidRequest, 'request' | 'proof'> | null,
    run: (flight: CallFlight) => Promise<PaidOutcome | undefined>,
  ): CallFlight {
    const name = keyText(key);
    return this.#flights.begin(name, claim, async (own) => {
      try {
        return await run(own);
      } finally {
        this.#options.open.note(key.payer, name, await this.#standingOf(key));
      }
    });
  }

  /** Of a row that cannot be read it is taken that it is open. */
  async #standingOf(key: PaymentKey): Promise<Standing> {
    const row = await this.#options.book.read(key).catch(() => null);
    if (row === undefined || row?.state === 'burnt') return 'over';
    return row === null || isOpen(row) ? 'open' : 'spent';
  }

  async #restore(): Promise<void> {
    const { book, ledger, open } = this.#options;
    let after: PaymentKey | undefined;
    for (;;) {
      const keys = await book.openKeys(after, RESTORED_TOGETHER);
      after = keys.at(-1);
      if (after === undefined) return;
      for (const key of keys) {
        const row = await book.read(key);
        if (row === undefined) continue;
        const isNewcomer = (await ledger.summaryOf(key.payer)) === undefined;
        const { amount, service } = row;
        open.restore({
          payer: key.payer,
          name: keyText(key),
          amount,
          isBatch: isBatchService(service),
          isNewcomer,
        });
      }
    }
  }

  async #requireSignature({ payment, terms }: Offer): Promise<void> {
    const { settler, now } = this.#options;
    const fault = termsFault(payment, terms) ?? timeFault(payment.authorization, Math.floor(now() / 1000));
    if (fault !== null) throw new PaymentError('refused', fault);
    if (!settler.isReady) throw new PaymentError('unavailable');
    const said = await settler.checkSignature(payment, terms);
    if (said.kind === 'unavailable') throw new PaymentError('unavailable');
    if (said.kind === 'invalid') throw new PaymentError('refused', said.reason);
  }

  /** Undefined where nobody waits for the answer any more, so that nothing was charged. */
  async #run(key: PaymentKey, call: PaidRequest, order: Order, flight: CallFlight): Promise<PaidOutcome | undefined> {
    const { book, cashier, now } = this.#options;
    const row = await book.read(key);
    if (row === undefined) {
      const work = await order();
      return this.#pay({ key, row: freshRow(book, call, now()) }, call, (payment) =>
        this.#sell(payment, call, work, flight),
      );
    }
    if (row.proof !== call.proof) throw new PaymentError('refused', 'signature_differs');
    if (row.request !== call.request) throw new PaymentError('bound-elsewhere');
    if (row.state === 'burnt') throw new PaymentError('refused', 'authorization_used');
    if (isUncertain(row)) return this.#deliver({ key, row: await cashier.chargeAgain({ key, row }, shownOf(call)) }, true);
    if (!isOpen(row)) return this.#deliver({ key, row }, true);
    return this.#pay({ key, row }, call, async (payment) => {
      if (!flight.isWanted) return undefined;
      return this.#deliver({ key, row: await cashier.chargeHeld(payment, shownOf(call)) }, false);
    });
  }

  /** Sells for a payment that is good for it: verified, covered by what the wallet has, and the first of its identifier. */
  async #pay(
    payment: BookedPayment,
    call: PaidRequest,
    sell: (payment: BookedPayment) => Promise<PaidOutcome | undefined>,
  ): Promise<PaidOutcome | undefined> {
    const refusal = await this.#verify(payment, call);
    if (refusal !== null) return this.#refuse(payment, refusal);
    const { identifier } = payment.row;
    if (identifier === null) return sell(payment);
    return this.#identifiers.exclusive(`${payment.key.payer}/${identifier}`, async () => {
      const earlier = await this.#earlier(payment.key, identifier, call);
      return earlier ?? sell(payment);
    });
  }

  /** Why the payment does not hold; null where it does. Throws `PaymentError` `unavailable`. */
  async #verify({ key }: BookedPayment, { payment, terms }: PaidRequest): Promise<string | null> {
    const { settler, open, now } = this.#options;
    const { payer } = key;
    const fault = termsFault(payment, terms) ?? timeFault(payment.authorization, Math.floor(now() / 1000));
    if (fault !== null) return fault;
    if (!settler.isReady) throw new PaymentError('unavailable');
    const [said, isCovered] = await Promise.all([
      settler.verify(payment, terms),
      open.isCovered(payer, keyText(key), () => settler.balanceOf(payer)),
    ]);
    if (said.kind === 'invalid') return said.reason;
    if (said.kind === 'unavailable' || isCovered === null) throw new PaymentError('unavailable');
    return isCovered ? null : 'open_authorizations_exceed_balance';
  }

  /** A settlement that was given up as refused may have come through after all; then the payment is as good as paid. */
  async #refuse(payment: BookedPayment, reason: string): Promise<PaidOutcome> {
    const { key } = payment;
    if (payment.row.state === 'unpaid') {
      const row = await this.#options.cashier.lookUp(payment);
      if (row !== undefined && row.settlement !== null) return this.#deliver({ key, row }, true);
    }
    throw new PaymentError('refused', reason);
  }

  async #sell(
    payment: BookedPayment,
    call: PaidRequest,
    work: Work,
    flight: CallFlight,
  ): Promise<PaidOutcome | undefined> {
    const { intake, cashier } = this.#options;
    const made = await this.#work(work, flight);
    if (made === undefined) return undefined;
    if ('charged' in made) return { body: made.body, receipt: null, isReplay: false };
    if (!flight.isWanted) return undefined;
    // Nobody is charged for records that could not be made now.
    intake.requireRoom(made.prepared.length);
    const row = await cashier.charge(payment, shownOf(call), made);
    return this.#deliver({ key: payment.key, row }, false, made.answer);
  }

  /** Undefined where the work was given up because nobody waited for it. */
  async #work(work: Work, flight: CallFlight): Promise<MadeWork | (PaidAnswer & { charged: false }) | undefined> {
    const recording = new PaidRecording(this.#options.intake);
    using interest = new Interest(() => flight.isWanted);
    const { signal } = interest;
    const answer = await work(recording, signal).catch((error: unknown) => {
      if (!signal.aborted || error !== signal.reason) throw error;
    });
    if (answer === undefined) return undefined;
    const { body, blanks = [], charged } = answer;
    const { prepared } = recording;
    if (charged === false && prepared.length > 0) throw new RangeError('what was recorded is charged');
    if (charged === false) return { body, charged };
    if (blanks.length > 0 && prepared.length === 0) throw new RangeError('an answer without a record is complete');
    return { answer: { body, blanks }, prepared };
  }

  /** The answer of another payment that was made under the same identifier, once this one is verified. */
  async #earlier(key: PaymentKey, identifier: string, call: PaidRequest): Promise<PaidOutcome | undefined> {
    const { book } = this.#options;
    const found = await book.identified(key.payer, identifier);
    const first = found && readKeyText(found.payment);
    if (found === undefined || first === undefined || found.payment === keyText(key)) return undefined;
    if (found.request !== call.request) throw new PaymentError('identifier-conflict');
    let row = await book.read(first);
    if (row !== undefined && (isOpen(row) || row.state === 'settled')) {
      // A flight of one that was refused may wait for this very lane.
      if (row.state !== 'unpaid') await this.#flights.get(found.payment)?.over();
      await this.#bringOn(first);
      row = await book.read(first);
    }
    if (row?.state === 'published') return this.#deliver({ key: first, row }, true);
    if (row?.state === 'settled') throw new PaymentError('not-published');
    if (row !== undefined && isUncertain(row)) throw new PaymentError('outcome-unknown');
    return undefined;
  }

  async #publish(payment: BookedPayment): Promise<PaymentRow> {
    try {
      return await this.#options.publisher.publish(payment);
    } catch (error) {
      throw new PaymentError('not-published', 'not_published', error);
    }
  }

  /** The answer of a payment that the payee has. `made`: where it is at hand. */
  async #deliver(payment: BookedPayment, isReplay: boolean, made?: AnswerDraft): Promise<PaidOutcome> {
    const { key } = payment;
    const row = payment.row.state === 'settled' ? await this.#publish(payment) : payment.row;
    const answer = made ?? (await this.#options.book.answerOf(key));
    if (answer === undefined) throw new PaymentError('answer-ended');
    return { body: completeAnswer(answer, row.publication), receipt: receiptOf({ key, row }), isReplay };
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

function receiptOf({ key, row }: BookedPayment): Receipt {
  if (row.settlement === null) throw new RangeError('a payment that is not settled has no receipt');
  const { payer, asset, network } = key;
  return { payer, amount: row.amount, asset, network, transaction: row.settlement.transaction };
}
