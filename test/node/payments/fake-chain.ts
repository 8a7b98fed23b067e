import { createHash } from 'node:crypto';
import { type AtomicAmount, atomicAmount } from '../../../protocol/payments/usdc.ts';
import type {
  ChainOutcome,
  PaymentProcessor,
  SettleReply,
  SignedAuthorization,
  SoughtPayment,
  Verification,
} from '../../../node/payments/processor.ts';

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
  readonly transaction: string;
}

/** A chain that knows which authorizations are spent, and a facilitator of it that does what it is told. */
export class FakeChain implements PaymentProcessor {
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

  constructor(now: () => number, price = 1_000) {
    this.#now = now;
    this.#price = price;
  }

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

  async checkSignature({ signature }: SignedAuthorization): Promise<Verification> {
    this.signatureChecks++;
    const { verify } = this.behaviour;
    if (verify === 'throws') throw new Error('the check failed');
    if (verify === 'hangs') return new Promise<never>(() => {});
    if (verify === 'unavailable') return { kind: 'unavailable' };
    return signature.startsWith(this.goodSignature)
      ? { kind: 'valid' }
      : { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
  }

  async balanceOf(): Promise<AtomicAmount | null> {
    const { verify } = this.behaviour;
    if (verify === 'throws') throw new Error('the balance could not be read');
    if (verify === 'hangs') return new Promise<never>(() => {});
    if (verify === 'unavailable') return null;
    return atomicAmount(String(Math.max(0, this.funds - this.#spent.size * this.#price)));
  }

  async verify({ authorization, signature }: SignedAuthorization): Promise<Verification> {
    this.verifies++;
    const { verify } = this.behaviour;
    if (verify === 'throws') throw new Error('verify failed');
    if (verify === 'hangs') return new Promise<never>(() => {});
    if (verify === 'unavailable') return { kind: 'unavailable' };
    if (!signature.startsWith(this.goodSignature)) return { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
    return this.#canMove(authorization) ? { kind: 'valid' } : { kind: 'invalid', reason: 'nonce_already_used' };
  }

  async settle({ authorization }: SignedAuthorization): Promise<SettleReply> {
    this.settles++;
    const move = (): boolean => {
      const can = this.#canMove(authorization);
      if (can) this.spend(authorization.nonce, 'paid');
      return can;
    };
    const hang = (): Promise<never> => new Promise<never>(() => {});
    switch (this.behaviour.settle) {
      case 'honest': {
        const moved = move();
        return moved
          ? { kind: 'settled', transaction: '0x' }
          : { kind: 'refused', reason: 'nonce_already_used', isCertain: false };
      }
      case 'refuses':
        return { kind: 'refused', reason: 'insufficient_funds', isCertain: false };
      case 'declines':
        return { kind: 'refused', reason: 'insufficient_funds', isCertain: true };
      case 'unavailable':
        return { kind: 'unavailable' };
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
        return { kind: 'refused', reason: 'no_such_thing', isCertain: false };
      case 'boasts':
        return { kind: 'settled', transaction: `0x${'b'.repeat(64)}` };
      case 'late':
        this.#late.push(move);
        return hang();
      case 'robbed':
        this.spend(authorization.nonce, 'burnt');
        return { kind: 'refused', reason: 'nonce_already_used', isCertain: false };
    }
  }

  async outcomeOf({ authorization: { nonce, validBefore } }: SoughtPayment): Promise<ChainOutcome> {
    const { look } = this.behaviour;
    if (look === 'throws') throw new Error('look failed');
    if (look === 'hangs') return new Promise<never>(() => {});
    if (look === 'unknown') return { kind: 'unknown' };
    const spent = this.#spent.get(nonce);
    if (spent === undefined) return { kind: 'unused', expired: this.#seconds() >= validBefore };
    return spent.state === 'paid' ? { kind: 'paid', transaction: spent.transaction } : { kind: 'burnt' };
  }

  #canMove({ nonce, validBefore }: SignedAuthorization['authorization']): boolean {
    return !this.#spent.has(nonce) && this.#seconds() < validBefore;
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}
