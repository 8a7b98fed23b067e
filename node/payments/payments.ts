import { walletAddress } from '../../protocol/payments/payment.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { Intake } from '../intake/intake.ts';
import { IntakeError } from '../intake/intake-error.ts';
import { type AnswerDraft, completeAnswer } from './answer-draft.ts';
import { type IsWanted, type OngoingCall, OngoingCalls } from './ongoing-calls.ts';
import type { Standing } from './open-authorizations.ts';
import { PaidRecording } from './paid-recording.ts';
import type { Offer, Order, PaidAnswer, PaidOutcome, PaidRequest, Receipt, Work } from './paid-request.ts';
import type { AdmittedPayment, PaymentAdmission } from './payment-admission.ts';
import type { PaymentCharger, ShownPayment } from './payment-charger.ts';
import { PaymentError } from './payment-error.ts';
import { keyText, type PaymentKey, paymentKey, readKeyText } from './payment-key.ts';
import { type MadeWork, OVER_MARGIN_MS, type PaymentStore, type StoredPayment } from './payment-store.ts';
import { isOpen, isUncertain, type PaymentRow } from './payment-tables.ts';
import type { Publisher } from './publisher.ts';
import type { Settler } from './settler.ts';

/** How often it is looked whether anybody still waits. In milliseconds. */
const LOOK_MS = 200;

/** Tells work that nobody waits for it any more, by aborting its signal with `PaymentError` `abandoned`. */
class CallerWatch implements Disposable {
  readonly #lost = new AbortController();
  readonly #looking: NodeJS.Timeout;

  constructor(isWanted: IsWanted) {
    const look = (): void => {
      if (!isWanted()) this.#lost.abort(new PaymentError('abandoned'));
    };
    look();
    this.#looking = setInterval(look, LOOK_MS).unref();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looking);
  }
}

export interface PaymentsOptions {
  readonly paymentStore: PaymentStore;
  readonly charger: PaymentCharger;
  readonly settler: Pick<Settler, 'isReady'>;
  readonly publisher: Publisher;
  readonly admission: PaymentAdmission;
  readonly intake: Pick<Intake, 'prepareAll' | 'requireCapacity'>;
  readonly now: () => number;
}

type OngoingPaidCall = OngoingCall<PaidOutcome | undefined>;

/** What was prepared for a payment that was taken on before is on the disk. */
const TAKEN_ON: AdmittedPayment = { prepare: () => undefined, [Symbol.dispose]: () => undefined };

/** Open payments under one identifier beside which another is sold: each of them is asked for on the chain. */
const MAX_BESIDE = 8;
/** Callers of one and the same call that may wait for its answer together. */
const MAX_JOINED_CALLERS = 64;

/**
 * Sells answers. Of each authorization: its work is done once and prepared in private, its value is moved at most once
 * and never without answer and records being on the disk, the records are made once it is moved and never otherwise,
 * and the answer is given to anyone who shows the same signature with the same request, whatever stopped in between.
 * One flight at a time works on an authorization; those who come meanwhile with the same call wait for its answer.
 */
export class Payments {
  readonly #options: PaymentsOptions;
  readonly #ongoingCalls = new OngoingCalls<PaidOutcome | undefined>();
  readonly #identifiers = new KeyedLock();

  constructor(options: PaymentsOptions) {
    this.#options = options;
  }

  /** Whether payments can be taken at present. */
  get isReady(): boolean {
    return this.#options.settler.isReady;
  }

  /** Whether a payment was taken on before, by anyone who shows it: then its answer is owed, or being found out. */
  async isTakenOn(offer: Offer): Promise<boolean> {
    const key = keyOf(offer);
    return this.#isUnderWay(key, offer) || (await this.#options.paymentStore.read(key))?.proof === offer.proof;
  }

  /**
   * Lets a payment in whose payer has signed it, for one call, until it is disposed: before anything else of the call
   * is looked at. Throws `PaymentError` and `LimitError`.
   */
  async admit(offer: Offer): Promise<AdmittedPayment> {
    const { paymentStore, admission } = this.#options;
    const key = keyOf(offer);
    const row = await paymentStore.read(key);
    if (row === undefined) return admission.enter(key, offer, this.#isUnderWay(key, offer));
    if (row.proof !== offer.proof) throw new PaymentError('refused', 'signature_differs');
    return TAKEN_ON;
  }

  /**
   * Answers a call whose payment was admitted. Throws `PaymentError`, `IntakeError`, `StoreError` and what order and
   * work throw: then nothing was charged, unless it is `outcome-unknown` or `not-published`.
   */
  async take(call: PaidRequest, order: Order): Promise<PaidOutcome> {
    const key = keyOf(call);
    const name = keyText(key);
    for (;;) {
      const running = this.#ongoingCalls.get(name);
      const ongoing = running ?? this.#begin(key, call, (own, held) => this.#run(key, call, order, own, held));
      const outcome = running === undefined ? await ongoing.join(call.isWanted) : await joinOngoing(running, call);
      if (outcome !== undefined) return outcome;
      if (running === undefined) throw new PaymentError('abandoned');
    }
  }

  /**
   * Brings a payment further that nobody asks for: finds out what came of an open one, and makes the records of a
   * settled one. Where somebody is about the payment already, it is left to him. Throws `PaymentError`.
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
    for (let busy = this.#ongoingCalls.get(name); busy !== undefined; busy = this.#ongoingCalls.get(name)) {
      await busy.over();
    }
    const ongoing = this.#begin(key, null, async () => {
      const row = await this.#options.paymentStore.read(key);
      if (row !== undefined) await this.#options.paymentStore.endHeld({ key, row }, end);
      return undefined;
    });
    await ongoing.join(() => false);
  }

  /** Resolves when no call that is under way now is any more. */
  idle(): Promise<void> {
    return this.#ongoingCalls.idle();
  }

  async #bringOn(key: PaymentKey, isDue: (row: PaymentRow) => boolean = () => true): Promise<void> {
    if (this.#ongoingCalls.get(keyText(key)) !== undefined) return;
    const ongoing = this.#begin(key, null, async () => {
      const { paymentStore, charger } = this.#options;
      let row = await paymentStore.read(key);
      if (row !== undefined && isOpen(row) && isDue(row)) row = await charger.lookUp({ key, row });
      if (row?.state === 'settled') await this.#publish({ key, row });
      return undefined;
    });
    await ongoing.join(() => false);
  }

  #isUnderWay(key: PaymentKey, { proof }: Offer): boolean {
    return this.#ongoingCalls.get(keyText(key))?.claim?.proof === proof;
  }

  /**
   * Afterwards the wallet's open authorizations are what the disk says. `run` puts into `held` what is held until then.
   */
  #begin(
    key: PaymentKey,
    claim: Pick<PaidRequest, 'request' | 'proof'> | null,
    run: (ongoing: OngoingPaidCall, held: DisposableStack) => Promise<PaidOutcome | undefined>,
  ): OngoingPaidCall {
    const name = keyText(key);
    return this.#ongoingCalls.begin(name, claim, async (own) => {
      using held = new DisposableStack();
      try {
        return await run(own, held);
      } finally {
        this.#options.admission.note(key, await this.#standingOf(key));
      }
    });
  }

  /** Of a row that cannot be read it is taken that it is open. */
  async #standingOf(key: PaymentKey): Promise<Standing> {
    const row = await this.#options.paymentStore.read(key).catch(() => null);
    if (row === undefined || row?.state === 'burnt') return 'over';
    return row === null || isOpen(row) ? 'open' : 'spent';
  }

  /** Undefined where nobody waits for the answer any more, so that nothing was charged. */
  async #run(
    key: PaymentKey,
    call: PaidRequest,
    order: Order,
    ongoing: OngoingPaidCall,
    held: DisposableStack,
  ): Promise<PaidOutcome | undefined> {
    const { paymentStore, charger, admission, now } = this.#options;
    const row = await paymentStore.read(key);
    if (row === undefined) {
      held.use(await admission.hold(key, call));
      const work = await order();
      return this.#pay({ key, row: freshRow(paymentStore, call, now()) }, call, (payment) =>
        this.#sell(payment, call, work, ongoing),
      );
    }
    if (row.proof !== call.proof) throw new PaymentError('refused', 'signature_differs');
    // Which request it was is known no more.
    if (row.request === null) throw new PaymentError('answer-ended');
    if (!paymentStore.isOf(row, call.request)) throw new PaymentError('bound-elsewhere');
    if (row.state === 'burnt') throw new PaymentError('refused', 'authorization_used');
    if (isUncertain(row)) {
      const requireWanted = () => this.#requireWanted(row, ongoing);
      return this.#deliver({ key, row: await charger.chargeAgain({ key, row }, shownOf(call), requireWanted) }, true);
    }
    if (!isOpen(row)) return this.#deliver({ key, row }, true);
    return this.#pay({ key, row }, call, async (payment) => {
      if (!ongoing.isWanted) return undefined;
      this.#options.intake.requireCapacity(row.drafts);
      return this.#deliver({ key, row: await charger.chargeHeld(payment, shownOf(call)) }, false);
    });
  }

  /**
   * Throws `PaymentError` `outcome-unknown` where an open payment is not to be settled anew: nobody waits for its
   * answer, or its records could not be made now.
   */
  #requireWanted({ drafts }: PaymentRow, ongoing: OngoingPaidCall): void {
    if (!ongoing.isWanted) throw new PaymentError('outcome-unknown', 'abandoned');
    try {
      this.#options.intake.requireCapacity(drafts);
    } catch (error) {
      throw new PaymentError('outcome-unknown', 'not_recordable', error);
    }
  }

  /**
   * Sells for a payment that is good for it: verified, covered by what the wallet has, and the first of its identifier.
   */
  async #pay(
    payment: StoredPayment,
    call: PaidRequest,
    sell: (payment: StoredPayment) => Promise<PaidOutcome | undefined>,
  ): Promise<PaidOutcome | undefined> {
    const refusal = await this.#options.admission.whyNotGood(payment.key, call);
    if (refusal !== null) return this.#refuse(payment, refusal);
    const { identifier } = payment.row;
    if (identifier === null) return sell(payment);
    return this.#identifiers.exclusive(`${payment.key.payer}/${identifier}`, async () => {
      const earlier = await this.#earlier(payment.key, identifier, call);
      return earlier ?? sell(payment);
    });
  }

  /** A settlement that was given up as refused may have come through after all; then the payment is as good as paid. */
  async #refuse(payment: StoredPayment, reason: string): Promise<PaidOutcome> {
    const { key } = payment;
    if (payment.row.state === 'unpaid') {
      const row = await this.#options.charger.lookUp(payment);
      if (row !== undefined && row.settlement !== null) return this.#deliver({ key, row }, true);
    }
    throw new PaymentError('refused', reason);
  }

  async #sell(
    payment: StoredPayment,
    call: PaidRequest,
    work: Work,
    ongoing: OngoingPaidCall,
  ): Promise<PaidOutcome | undefined> {
    const { intake, charger } = this.#options;
    const made = await this.#work(work, ongoing);
    if (made === undefined) return undefined;
    if ('charged' in made) return { body: made.body, receipt: null, isReplay: false };
    if (!ongoing.isWanted) return undefined;
    // Nobody is charged for records that could not be made now.
    intake.requireCapacity(made.prepared.length);
    const row = await charger.charge(payment, shownOf(call), made);
    return this.#deliver({ key: payment.key, row }, false, made.answer);
  }

  /** Undefined where the work was given up because nobody waited for it. */
  async #work(work: Work, ongoing: OngoingPaidCall): Promise<MadeWork | (PaidAnswer & { charged: false }) | undefined> {
    const recording = new PaidRecording(this.#options.intake);
    using callerWatch = new CallerWatch(() => ongoing.isWanted);
    const { signal } = callerWatch;
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

  /**
   * The answer of another payment that was made under the same identifier, once this one is verified; undefined where
   * this one may be sold.
   */
  async #earlier(key: PaymentKey, identifier: string, call: PaidRequest): Promise<PaidOutcome | undefined> {
    const { paymentStore } = this.#options;
    const found = await paymentStore.identified(key.payer, identifier);
    if (found === undefined) return undefined;
    if (found.request === null) throw new PaymentError('answer-ended');
    if (!paymentStore.isOf(found, call.request)) throw new PaymentError('identifier-conflict');
    const named = readKeyText(found.payment);
    const open = (await paymentStore.openUnder(key, identifier)).map((other) => other.key);
    if (open.length > MAX_BESIDE) throw new PaymentError('outcome-unknown');
    for (const other of named === undefined ? open : [named, ...open.filter(({ nonce }) => nonce !== named.nonce)]) {
      const outcome = other.nonce === key.nonce ? undefined : await this.#answerOf(other);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /**
   * The answer of a payment, for who shows another one under its identifier; undefined where the other may be sold.
   * Beside one that was refused it may only where the chain says now that nothing was paid: what a facilitator refuses
   * may come through all the same.
   */
  async #answerOf(key: PaymentKey): Promise<PaidOutcome | undefined> {
    const { paymentStore, charger } = this.#options;
    let row = await paymentStore.read(key);
    // Its settlement is begun again under the lock of its identifier alone.
    if (row?.state === 'unpaid' && (await charger.isUnpaid({ key, row }))) return undefined;
    if (row !== undefined && (isOpen(row) || row.state === 'settled')) {
      // A call that was refused may wait for this very lock.
      if (row.state !== 'unpaid') await this.#ongoingCalls.get(keyText(key))?.over();
      await this.#bringOn(key);
      row = await paymentStore.read(key);
    }
    if (row?.state === 'published') return this.#deliver({ key, row }, true);
    if (row?.state === 'settled') throw new PaymentError('not-published');
    if (row !== undefined && isOpen(row)) throw new PaymentError('outcome-unknown');
    return undefined;
  }

  async #publish(payment: StoredPayment): Promise<PaymentRow> {
    try {
      return await this.#options.publisher.publish(payment);
    } catch (error) {
      const isForGood = error instanceof IntakeError && error.code === 'closed';
      throw new PaymentError(isForGood ? 'never-published' : 'not-published', 'not_published', error);
    }
  }

  /** The answer of a payment that the payee has. `made`: where it is at hand. */
  async #deliver(payment: StoredPayment, isReplay: boolean, made?: AnswerDraft): Promise<PaidOutcome> {
    const { key } = payment;
    const row = payment.row.state === 'settled' ? await this.#publish(payment) : payment.row;
    const answer = made ?? (await this.#options.paymentStore.answerOf(key));
    if (answer === undefined) throw new PaymentError('answer-ended');
    return { body: completeAnswer(answer, row.publication), receipt: receiptOf({ key, row }), isReplay };
  }
}

/** The answer of the ongoing call where this one is its duplicate; undefined where it has none for it. */
async function joinOngoing(ongoing: OngoingPaidCall, call: PaidRequest): Promise<PaidOutcome | undefined> {
  const { claim } = ongoing;
  if (claim !== null && claim.request !== call.request) throw new PaymentError('bound-elsewhere');
  if (claim?.proof === call.proof) {
    if (ongoing.callers >= MAX_JOINED_CALLERS) throw new PaymentError('wallet-busy');
    return ongoing.join(call.isWanted);
  }
  await ongoing.over();
  return undefined;
}

function keyOf({ payment, terms }: Offer): PaymentKey {
  return paymentKey(payment.authorization, terms);
}

function freshRow(paymentStore: PaymentStore, call: PaidRequest, now: number): PaymentRow {
  const { service, request, proof, terms, payment } = call;
  return paymentStore.fresh({
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

function receiptOf({ key, row }: StoredPayment): Receipt {
  if (row.settlement === null) throw new RangeError('a payment that is not settled has no receipt');
  const { payer, asset, network } = key;
  return { payer, amount: row.amount, asset, network, transaction: row.settlement.transaction };
}
