import { FacilitatorTimeoutError, HTTPFacilitatorClient } from '@x402/core/http';
import { SettleError, type SettleResponse, VerifyError } from '@x402/core/types';
import { isHash } from 'viem';
import { isSameAddress, type PaymentRequirements, X402_VERSION } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { isUnsent } from './chain-answers.ts';
import type { Facilitator, Settled, SignedAuthorization } from './contract.ts';
import { FacilitatorError } from './facilitator-error.ts';
import { payloadOf } from './payment-payload.ts';

export interface HttpFacilitatorOptions {
  readonly url: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** In milliseconds. */
  readonly verifyMs?: number;
  readonly settleMs?: number;
}

const VERIFY_MS = 8_000;
const SETTLE_MS = 40_000;
/**
 * What a service says of a payment that it refuses to send to the chain. Whatever else it says leaves the outcome open.
 */
const NOTHING_SENT = new Set([
  'insufficient_funds',
  'invalid_network',
  'invalid_scheme',
  'invalid_payload',
  'invalid_payment_requirements',
  'unsupported_scheme',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
]);
/** Words for trouble of the service's own, in the place of a reason. */
const OWN_TROUBLE = /^unexpected_/;
/** Answers of a service that has not looked at the payment. */
const UNSEEN = new Set([401, 403, 404, 405, 413, 429]);
/** The service, or what stands before it, gave up on the request, perhaps after it was carried out. */
const GIVEN_UP = 408;
/** The client has no other place for the status. */
const STATUS_IN_MESSAGE = /failed \((\d{3})\)/;
const UNTOLD = 'payment_refused';

/**
 * Has payments verified and settled by a service (x402 facilitator API, version 2). Its word that a payment is settled
 * is passed on; so is its refusal, where it says that nothing was sent.
 */
export class HttpFacilitator implements Facilitator {
  /** The service sends from accounts of its own, of which it may have many. */
  readonly settlers = null;
  readonly #verifier: HTTPFacilitatorClient;
  readonly #settler: HTTPFacilitatorClient;

  constructor({ url, headers, verifyMs = VERIFY_MS, settleMs = SETTLE_MS }: HttpFacilitatorOptions) {
    const own = { ...headers };
    const createAuthHeaders = () => Promise.resolve({ verify: own, settle: own, supported: own });
    this.#verifier = new HTTPFacilitatorClient({ url, timeoutMs: verifyMs, createAuthHeaders });
    this.#settler = new HTTPFacilitatorClient({ url, timeoutMs: settleMs, createAuthHeaders });
  }

  async verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<void> {
    const said = await this.#verifier.verify(payloadOf(payment, terms), terms).catch(verifyFailure);
    const reason = said.invalidReason ?? UNTOLD;
    if (!said.isValid) throw new FacilitatorError(OWN_TROUBLE.test(reason) ? 'unreachable' : 'refused', reason);
    if (said.payer !== undefined && !isSameAddress(said.payer, payment.authorization.from)) {
      throw new FacilitatorError('unreachable', 'facilitator_names_another_payer');
    }
  }

  async settle(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Settled> {
    const said = await this.#settler.settle(payloadOf(payment, terms), terms).catch(settleFailure);
    const transaction = isHash(said.transaction) ? said.transaction : null;
    if (said.success && transaction !== null && said.network === USDC.network) return { transaction };
    const reason = said.errorReason ?? UNTOLD;
    const isNothingSent = !said.success && transaction === null && NOTHING_SENT.has(reason);
    if (isNothingSent) throw new FacilitatorError('refused', reason);
    throw new FacilitatorError('unknown-outcome', reason, transaction);
  }

  async probe(): Promise<void> {
    const { kinds } = await this.#verifier.getSupported().catch(verifyFailure);
    const isOurs = kinds.some(
      ({ x402Version, scheme, network }) =>
        x402Version === X402_VERSION && scheme === 'exact' && network === USDC.network,
    );
    if (!isOurs) throw new FacilitatorError('refused', 'facilitator_does_not_support_the_network');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Every request has its own deadline, and nothing else is held.
  }
}

function verifyFailure(error: unknown): never {
  if (error instanceof FacilitatorTimeoutError) throw new FacilitatorError('timeout', 'facilitator_timeout');
  if (error instanceof VerifyError && isRefusal(error.statusCode)) {
    throw new FacilitatorError('refused', error.invalidReason ?? UNTOLD);
  }
  throw new FacilitatorError('unreachable', 'facilitator_unreachable');
}

/** A request that was taken may have been carried out, whatever came back. */
function settleFailure(error: unknown): Pick<SettleResponse, 'success' | 'errorReason' | 'transaction' | 'network'> {
  if (error instanceof SettleError && isRefusal(error.statusCode)) {
    const { errorReason, transaction, network } = error;
    return { success: false, errorReason: errorReason ?? UNTOLD, transaction, network };
  }
  if (isUnsent(error) || UNSEEN.has(statusOf(error))) {
    throw new FacilitatorError('unreachable', 'facilitator_unreachable');
  }
  const isLate = error instanceof FacilitatorTimeoutError;
  throw new FacilitatorError('unknown-outcome', isLate ? 'facilitator_timeout' : 'facilitator_failed');
}

/** The service looked at the payment and says no. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== GIVEN_UP && !UNSEEN.has(status);
}

function statusOf(error: unknown): number {
  if (error instanceof SettleError || error instanceof VerifyError) return error.statusCode;
  return error instanceof Error ? Number(STATUS_IN_MESSAGE.exec(error.message)?.[1] ?? 0) : 0;
}
