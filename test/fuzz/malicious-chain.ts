import { setTimeout as sleep } from 'node:timers/promises';
import { isPlainSignature, isSignedByPayer } from '../../node/payments/facilitator/payer-signature.ts';
import type { Settled, SignedAuthorization } from '../../node/payments/facilitator/contract.ts';
import { FacilitatorError } from '../../node/payments/facilitator/facilitator-error.ts';
import type { WalletAddress } from '../../protocol/payments/payment.ts';
import { FakeChain, HONEST } from '../node/payments/fake-chain.ts';

/** Others come meanwhile, as they do while a chain answers. */
const SETTLING_MS = 5;

/** A chain on which no wallet of an attacker ever pays. Signatures are checked for real. */
export class MaliciousChain extends FakeChain {
  /** Signatures that did not hold. */
  forged = 0;
  /** Settlements of one wallet that were under way at the same time, at most. */
  mostSettling = 0;
  readonly #settling = new Map<WalletAddress, number>();

  /** `price`: what every wallet has, in atomic units. */
  constructor(price: number) {
    super(Date.now);
    this.funds = price;
    this.behaviour = { ...HONEST, settle: 'declines' };
  }

  override async checkSignature(payment: SignedAuthorization): Promise<void> {
    this.signatureChecks++;
    if (isPlainSignature(payment) && isSignedByPayer(payment)) return;
    this.forged++;
    throw new FacilitatorError('refused', 'invalid_exact_evm_signature');
  }

  override async settle(payment: SignedAuthorization): Promise<Settled> {
    const { from } = payment.authorization;
    const settling = (this.#settling.get(from) ?? 0) + 1;
    this.#settling.set(from, settling);
    this.mostSettling = Math.max(this.mostSettling, settling);
    await sleep(SETTLING_MS);
    this.#settling.set(from, (this.#settling.get(from) ?? 1) - 1);
    return super.settle(payment);
  }
}
