import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Hash } from 'viem';
import type { WalletAddress } from '../../protocol/payments/payment.ts';
import { TRANSACTION_PATTERN } from '../../protocol/payments/settlement.ts';
import type { PaymentRequirements } from '../../protocol/payments/terms.ts';
import { type AtomicAmount, atomicAmount } from '../../protocol/payments/usdc.ts';
import {
  ChainError,
  type PaymentOutcome,
  type SettlementMeans,
  type SignedAuthorization,
  type SoughtPayment,
  type Unpaid,
  unpaid,
} from './facilitator/contract.ts';
import { FacilitatorError } from './facilitator/facilitator-error.ts';

/** What is said of an authorization that is not settled yet. */
export type Verification =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  /** Nobody says. */
  | { readonly kind: 'unavailable' };

export interface Begun {
  /** When this node first saw the payment, in epoch milliseconds. */
  readonly since: number;
  /** Whether an earlier settlement is still open: then that this one sent nothing says nothing of that one. */
  readonly isAgain: boolean;
}

export interface SettlerOptions {
  readonly means: SettlementMeans;
  readonly log: Logger;
  readonly deadlines?: Partial<Deadlines>;
}

/** How long each may take, and the pauses between looks at the chain after a settlement. In milliseconds. */
interface Deadlines {
  readonly verifyMs: number;
  readonly settleMs: number;
  readonly chainMs: number;
  readonly lookAgainMs: readonly number[];
}

/** A block comes every two seconds; a reply that was lost is often of one that is there already. */
const DEADLINES: Deadlines = { verifyMs: 10_000, settleMs: 45_000, chainMs: 10_000, lookAgainMs: [250, 1_000, 2_500] };
/** Settlements whose transaction is remembered until they are looked for. */
const MOST_REMEMBERED = 10_000;
/** Reasons come from another party. */
const REASON = /^[A-Za-z0-9_:.-]{1,128}$/;
const UNTOLD_REASON = 'settlement_refused';
const TRANSACTION = new RegExp(TRANSACTION_PATTERN);

/**
 * Has payments verified and settled. Whatever a facilitator says of a settlement, the chain is asked what came of it,
 * and only its word counts: a lost reply is no loss, and a wrong one does no harm. Nothing here throws or waits for
 * ever.
 */
export class Settler {
  readonly #means: SettlementMeans;
  readonly #log: Logger;
  readonly #deadlines: Deadlines;
  /** Nonce → transaction that is said to have settled it: a chain need not be searched for what is known. */
  readonly #sent = new LRUCache<string, Hash>({ max: MOST_REMEMBERED });

  constructor({ means, log, deadlines = {} }: SettlerOptions) {
    this.#means = means;
    this.#log = log;
    this.#deadlines = { ...DEADLINES, ...deadlines };
  }

  get isReady(): boolean {
    return this.#means.isReady;
  }

  /** Whether the payer has signed the payment, whatever it is worth. */
  checkSignature(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification> {
    return this.#verified('check a signature', () => this.#means.checkSignature(payment, terms));
  }

  /** What a wallet has; null where nobody says. */
  async balanceOf(payer: WalletAddress): Promise<AtomicAmount | null> {
    const { chain } = this.#means;
    const ask = () => chain.usdcBalance(payer);
    const balance = await this.#within('read a balance', this.#deadlines.chainMs, ask).catch(() => null);
    return balance === null ? null : atomicAmount(String(balance));
  }

  verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification> {
    return this.#verified('verify', () => this.#means.facilitator.verify(payment, terms));
  }

  /** Has the value moved. */
  async settle(payment: SignedAuthorization, terms: PaymentRequirements, begun: Begun): Promise<PaymentOutcome> {
    const unsent = await this.#send(payment, terms);
    const sought = { authorization: payment.authorization, since: begun.since };
    let outcome = await this.seen(sought);
    for (const pause of unsent === null ? this.#deadlines.lookAgainMs : []) {
      if (!mayChange(outcome)) break;
      await sleep(pause);
      outcome = await this.seen(sought);
    }
    return concluded(outcome, begun.isAgain ? null : unsent);
  }

  /** What came of a settlement that was begun earlier, by the chain alone. */
  async look(sought: SoughtPayment): Promise<PaymentOutcome> {
    return concluded(await this.seen(sought), null);
  }

  /** What the chain shows now: what is not used and not over is `unpaid` also where a settlement is under way. */
  async seen(sought: SoughtPayment): Promise<PaymentOutcome> {
    const { nonce } = sought.authorization;
    const ask = () => this.#means.chain.paymentOf(sought, this.#sent.get(nonce));
    const outcome = await this.#within('look', this.#deadlines.chainMs, ask).catch(() => UNKNOWN);
    if (outcome.kind !== 'unknown') this.#sent.delete(nonce);
    if (outcome.kind !== 'paid') return outcome;
    const transaction = outcome.transaction.toLowerCase();
    return TRANSACTION.test(transaction) ? { ...outcome, transaction } : UNKNOWN;
  }

  async #verified(what: string, ask: () => Promise<void>): Promise<Verification> {
    try {
      await this.#within(what, this.#deadlines.verifyMs, ask);
      return { kind: 'valid' };
    } catch (error) {
      return error instanceof FacilitatorError && error.code === 'refused'
        ? { kind: 'invalid', reason: fittingReason(error.reason) }
        : { kind: 'unavailable' };
    }
  }

  /** Why the facilitator says that it sent nothing; null where it may have. */
  async #send(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Unpaid | null> {
    try {
      await this.#within('settle', this.#deadlines.settleMs, () => this.#settleAndRemember(payment, terms));
      return null;
    } catch (error) {
      return error instanceof FacilitatorError ? this.#unsentBy(error) : null;
    }
  }

  #unsentBy({ code, reason }: FacilitatorError): Unpaid | null {
    switch (code) {
      case 'refused':
        // A node that sends its settlements itself knows what it has not sent: nobody needs to be believed.
        return unpaid(fittingReason(reason), { isOver: this.#means.facilitator.settlers !== null });
      case 'unreachable':
        return unpaid('facilitator_unavailable', { isTemporary: true });
      case 'timeout':
      case 'unknown-outcome':
        return null;
    }
  }

  async #settleAndRemember(payment: SignedAuthorization, terms: PaymentRequirements): Promise<void> {
    const { nonce } = payment.authorization;
    try {
      this.#sent.set(nonce, (await this.#means.facilitator.settle(payment, terms)).transaction);
    } catch (error) {
      if (error instanceof FacilitatorError && error.transaction !== null) this.#sent.set(nonce, error.transaction);
      throw error;
    }
  }

  /** Rejects with what was thrown, and with `FacilitatorError` `timeout` where nothing is said in time. */
  async #within<Said>(what: string, ms: number, ask: () => Promise<Said>): Promise<Said> {
    const over = new AbortController();
    const deadline = sleep(ms, undefined, { signal: over.signal }).then(
      () => Promise.reject(new FacilitatorError('timeout', 'no_answer')),
      () => new Promise<never>(() => {}),
    );
    try {
      return await Promise.race([ask(), deadline]);
    } catch (error) {
      const isTold = error instanceof FacilitatorError || error instanceof ChainError;
      if (!isTold) this.#log.warn({ err: error, what }, 'facilitator or chain failed in a way that is not foreseen');
      throw error;
    } finally {
      over.abort();
    }
  }
}

const UNKNOWN: PaymentOutcome = { kind: 'unknown' };

/** Whether a settlement that was just asked for may still show. */
function mayChange(outcome: PaymentOutcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'unpaid' && !outcome.isOver);
}

/** What the chain says, and where it shows nothing yet, why nothing was sent. What was sent may not be in a block yet. */
function concluded(outcome: PaymentOutcome, unsent: Unpaid | null): PaymentOutcome {
  if (outcome.kind !== 'unpaid' || outcome.isOver) return outcome;
  return unsent ?? UNKNOWN;
}

function fittingReason(reason: string): string {
  return REASON.test(reason) ? reason : UNTOLD_REASON;
}
