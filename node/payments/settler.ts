import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { WalletAddress } from '../../protocol/payments/payment.ts';
import type { PaymentRequirements } from '../../protocol/payments/terms.ts';
import type { AtomicAmount } from '../../protocol/payments/usdc.ts';
import { TRANSACTION_PATTERN } from '../../protocol/payments/settlement.ts';
import type {
  ChainOutcome,
  PaymentProcessor,
  SettleReply,
  SignedAuthorization,
  SoughtPayment,
  Verification,
} from './processor.ts';

/** What came of a settlement. */
export type SettlementOutcome =
  | { readonly kind: 'paid'; readonly transaction: string }
  /**
   * Nothing moved, and nothing is under way. `isTemporary`: the same may work in a moment; `isOver`: nothing of it can
   * move any more, unless it is begun again.
   */
  | { readonly kind: 'unpaid'; readonly reason: string; readonly isTemporary: boolean; readonly isOver: boolean }
  /** Spent on something else: nothing can move any more. */
  | { readonly kind: 'burnt'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface Begun {
  /** When this node first saw the payment, in epoch milliseconds. */
  readonly since: number;
  /** Whether an earlier settlement is still open: then that this one sent nothing says nothing of that one. */
  readonly isAgain: boolean;
}

export interface SettlerOptions {
  readonly processor: PaymentProcessor;
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
  readonly #processor: PaymentProcessor;
  readonly #log: Logger;
  readonly #deadlines: Deadlines;

  constructor({ processor, log, deadlines = {} }: SettlerOptions) {
    this.#processor = processor;
    this.#log = log;
    this.#deadlines = { ...DEADLINES, ...deadlines };
  }

  get isReady(): boolean {
    return this.#processor.isReady;
  }

  /** Whether the payer has signed the payment, whatever it is worth. */
  async checkSignature(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification> {
    const silence: Verification = { kind: 'unavailable' };
    return told(
      await this.#within('check a signature', this.#deadlines.verifyMs, silence, () =>
        this.#processor.checkSignature(payment, terms),
      ),
    );
  }

  /** What a wallet has; null where nobody says. */
  balanceOf(payer: WalletAddress): Promise<AtomicAmount | null> {
    return this.#within('read a balance', this.#deadlines.chainMs, null, () => this.#processor.balanceOf(payer));
  }

  async verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification> {
    const silence: Verification = { kind: 'unavailable' };
    return told(
      await this.#within('verify', this.#deadlines.verifyMs, silence, () => this.#processor.verify(payment, terms)),
    );
  }

  /** Has the value moved. */
  async settle(payment: SignedAuthorization, terms: PaymentRequirements, begun: Begun): Promise<SettlementOutcome> {
    const silence: SettleReply = { kind: 'unclear' };
    const reply = await this.#within('settle', this.#deadlines.settleMs, silence, () =>
      this.#processor.settle(payment, terms),
    );
    const sought = { authorization: payment.authorization, since: begun.since };
    let outcome = await this.#outcomeOf(sought);
    for (const pause of maySettle(reply) ? this.#deadlines.lookAgainMs : []) {
      if (!mayChange(outcome)) break;
      await sleep(pause);
      outcome = await this.#outcomeOf(sought);
    }
    return verdictOf(begun.isAgain ? { kind: 'unclear' } : reply, outcome);
  }

  /** What came of a settlement that was begun earlier, by the chain alone. */
  async look(sought: SoughtPayment): Promise<SettlementOutcome> {
    return verdictOf({ kind: 'unclear' }, await this.#outcomeOf(sought));
  }

  async #outcomeOf(sought: SoughtPayment): Promise<ChainOutcome> {
    const silence: ChainOutcome = { kind: 'unknown' };
    const outcome = await this.#within('look', this.#deadlines.chainMs, silence, () =>
      this.#processor.outcomeOf(sought),
    );
    if (outcome.kind !== 'paid') return outcome;
    const transaction = outcome.transaction.toLowerCase();
    return TRANSACTION.test(transaction) ? { ...outcome, transaction } : silence;
  }

  async #within<Said>(what: string, ms: number, silence: Said, ask: () => Promise<Said>): Promise<Said> {
    const over = new AbortController();
    const deadline = sleep(ms, silence, { signal: over.signal }).catch(() => silence);
    try {
      return await Promise.race([ask(), deadline]);
    } catch (error) {
      this.#log.warn({ err: error, what }, 'a payment processor failed');
      return silence;
    } finally {
      over.abort();
    }
  }
}

function told(said: Verification): Verification {
  return said.kind === 'invalid' ? { ...said, reason: fittingReason(said.reason) } : said;
}

function maySettle({ kind }: SettleReply): boolean {
  return kind === 'settled' || kind === 'unclear';
}

/** Whether a settlement that was just asked for may still show. */
function mayChange(outcome: ChainOutcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'unused' && !outcome.expired);
}

function verdictOf(reply: SettleReply, outcome: ChainOutcome): SettlementOutcome {
  switch (outcome.kind) {
    case 'paid':
      return { kind: 'paid', transaction: outcome.transaction };
    case 'burnt':
      return { kind: 'burnt', reason: 'authorization_used' };
    case 'unknown':
      return { kind: 'unknown' };
    case 'unused':
      if (outcome.expired) return unpaid('authorization_expired', { isOver: true });
      if (reply.kind === 'refused') return unpaid(fittingReason(reply.reason), { isOver: reply.isCertain });
      if (reply.kind === 'unavailable') return unpaid('facilitator_unavailable', { isTemporary: true });
      // Sent, perhaps, and not in a block yet.
      return { kind: 'unknown' };
  }
}

function unpaid(reason: string, { isTemporary = false, isOver = false } = {}): SettlementOutcome {
  return { kind: 'unpaid', reason, isTemporary, isOver };
}

function fittingReason(reason: string): string {
  return REASON.test(reason) ? reason : UNTOLD_REASON;
}
