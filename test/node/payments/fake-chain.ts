import { createHash } from 'node:crypto';
import type {
  PaymentOutcome,
  Settled,
  SettlementMeans,
  SignedAuthorization,
  SoughtPayment,
} from '../../../node/payments/facilitator/contract.ts';
import { FacilitatorError } from '../../../node/payments/facilitator/facilitator-error.ts';

/** What a facilitator does when it is asked to settle. The honest one moves what can be moved, and says so. */
export type SettleBehaviour =
  | 'honest'
  | 'refuses'
  /** The same, by the node's own facilitator, which needs no belief. */
  | 'declines'
  | 'unavailable'
  | 'throws-before'
  | 'throws-after'
  | 'hangs-before'
  | 'hangs-after'
  /** Says that it moved nothing, and did. */
  | 'hides'
  /** Says that it moved the value, and did not. */
  | 'boasts'
  /** Says nothing, and moves it at some later time. */
  | 'late'
  /** Before it is reached the payer spends the authorization on something else. */
  | 'robbed';
export type VerifyBehaviour = 'honest' | 'unavailable' | 'throws' | 'hangs';
export type LookBehaviour = 'honest' | 'unknown' | 'throws' | 'hangs';

export interface Behaviour {
  readonly verify: VerifyBehaviour;
  readonly settle: SettleBehaviour;
  readonly look: LookBehaviour;
}

export const HONEST: Behaviour = { verify: 'honest', settle: 'honest', look: 'honest' };

interface Spent {
  readonly state: 'paid' | 'burnt';
  readonly transaction: `0x${string}`;
}

/** A chain that knows which authorizations are spent, and a facilitator of it that does what it is told. */
export class FakeChain implements SettlementMeans {
  isReady = true;
  behaviour: Behaviour = HONEST;
  /** A signature that begins otherwise does not hold. */
  goodSignature = '0x';
  readonly #now: () => number;
  readonly #spent = new Map<string, Spent>();
  readonly #late: (() => void)[] = [];
  /** What the wallet has, before what it has paid. */
  funds = 1_000_000_000;
  /** Atomic units of one payment. */
  readonly #price: number;
  settles = 0;
  verifies = 0;
  signatureChecks = 0;

  readonly facilitator: SettlementMeans['facilitator'];
  readonly chain: SettlementMeans['chain'] = {
    usdcBalance: () => this.#balance(),
    paymentOf: (sought) => this.paymentOf(sought),
  };

  constructor(now: () => number, price = 1_000) {
    this.#now = now;
    this.#price = price;
    const behaviour = () => this.behaviour;
    this.facilitator = {
      verify: (payment) => this.#verify(payment),
      settle: (payment) => this.settle(payment),
      /** Only who sends its settlements itself is believed that it sent nothing. */
      get settlers() {
        return behaviour().settle === 'declines' ? [] : null;
      },
    };
  }

  /** Waited for before the chain says what became of an authorization. */
  beforeLook: () => Promise<void> = async () => {};

  /** Nonces by which the payee was paid. */
  get paid(): string[] {
    return [...this.#spent].filter(([, { state }]) => state === 'paid').map(([nonce]) => nonce);
  }

  stateOf(nonce: string): 'unused' | 'paid' | 'burnt' {
    return this.#spent.get(nonce)?.state ?? 'unused';
  }

  spend(nonce: string, state: Spent['state']): void {
    if (this.#spent.has(nonce)) return;
    this.#spent.set(nonce, { state, transaction: `0x${createHash('sha256').update(nonce).digest('hex')}` });
  }

  /** What was sent late arrives. */
  arrive(): void {
    for (const send of this.#late.splice(0)) send();
  }

  async checkSignature({ signature }: SignedAuthorization): Promise<void> {
    this.signatureChecks++;
    await this.#answersVerify('the check failed');
    this.#requireGood(signature);
  }

  async settle({ authorization }: SignedAuthorization): Promise<Settled> {
    this.settles++;
    const move = (): boolean => {
      const can = this.#canMove(authorization);
      if (can) this.spend(authorization.nonce, 'paid');
      return can;
    };
    const hang = (): Promise<never> => new Promise<never>(() => {});
    switch (this.behaviour.settle) {
      case 'honest':
        if (!move()) throw new FacilitatorError('refused', 'nonce_already_used');
        return { transaction: '0x' };
      case 'refuses':
      case 'declines':
        throw new FacilitatorError('refused', 'insufficient_funds');
      case 'unavailable':
        throw new FacilitatorError('unreachable', 'no_such_host');
      case 'throws-before':
        throw new Error('settle failed');
      case 'throws-after':
        move();
        throw new Error('reply lost');
      case 'hangs-before':
        return hang();
      case 'hangs-after':
        move();
        return hang();
      case 'hides':
        move();
        throw new FacilitatorError('refused', 'no_such_thing');
      case 'boasts':
        return { transaction: `0x${'b'.repeat(64)}` };
      case 'late':
        this.#late.push(move);
        return hang();
      case 'robbed':
        this.spend(authorization.nonce, 'burnt');
        throw new FacilitatorError('refused', 'nonce_already_used');
    }
  }

  async #balance(): Promise<bigint> {
    await this.#answersVerify('the balance could not be read');
    return BigInt(Math.max(0, this.funds - this.#spent.size * this.#price));
  }

  async #verify({ authorization, signature }: SignedAuthorization): Promise<void> {
    this.verifies++;
    await this.#answersVerify('verify failed');
    this.#requireGood(signature);
    if (!this.#canMove(authorization)) throw new FacilitatorError('refused', 'nonce_already_used');
  }

  /** Resolves where what is asked before a settlement is to be answered. */
  async #answersVerify(failure: string): Promise<void> {
    const { verify } = this.behaviour;
    if (verify === 'throws') throw new Error(failure);
    if (verify === 'unavailable') throw new FacilitatorError('unreachable', 'no_such_host');
    if (verify === 'hangs') await new Promise<never>(() => {});
  }

  #requireGood(signature: string): void {
    if (!signature.startsWith(this.goodSignature)) throw new FacilitatorError('refused', 'invalid_exact_evm_signature');
  }

  async paymentOf({ authorization: { nonce, validBefore } }: SoughtPayment): Promise<PaymentOutcome> {
    await this.beforeLook();
    const { look } = this.behaviour;
    if (look === 'throws') throw new Error('look failed');
    if (look === 'hangs') return new Promise<never>(() => {});
    if (look === 'unknown') return { kind: 'unknown' };
    const spent = this.#spent.get(nonce);
    if (spent === undefined) return unused(this.#seconds() >= validBefore);
    return spent.state === 'paid'
      ? { kind: 'paid', transaction: spent.transaction }
      : { kind: 'burnt', reason: 'authorization_used' };
  }

  #canMove({ nonce, validBefore }: SignedAuthorization['authorization']): boolean {
    return !this.#spent.has(nonce) && this.#seconds() < validBefore;
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

/** What a chain says of an authorization that is not used. */
export function unused(isOver: boolean): PaymentOutcome {
  const reason = isOver ? 'authorization_expired' : 'authorization_unused';
  return { kind: 'unpaid', reason, isTemporary: false, isOver };
}
