import type { JsonObject } from '../../protocol/json/value.ts';
import { encodeHeader, PAYMENT_REQUIRED_HEADER, PAYMENT_RESPONSE_HEADER } from '../../protocol/payments/header.ts';
import { type Demand, paymentRequired } from '../../protocol/payments/terms.ts';
import { USDC, usdOf } from '../../protocol/payments/usdc.ts';
import type { PaidOutcome, Receipt } from '../payments/paid-request.ts';
import type { Problem } from './problem.ts';
import type { Answer } from './route.ts';

/** An answer whose body is JSON. */
type JsonAnswer = Answer & { readonly body: JsonObject };

/** Marks an answer that was given before, without a second charge. */
const REPLAYED_HEADER = 'Payment-Replayed';

/**
 * A 402 answer: the PaymentRequired object of x402 in its header, and the same with what all refusals say in its body.
 */
export function demandAnswer(
  demand: Omit<Demand, 'error'>,
  { code, detail, status, extra }: Problem,
  requestId: string,
): JsonAnswer {
  const { reason } = extra;
  // A refused payment's own reason is what x402 clients look for.
  const error = code === 'payment-refused' && typeof reason === 'string' ? reason : code;
  const required = paymentRequired({ ...demand, error });
  const failed = { success: false, errorReason: reason ?? code, transaction: '', network: USDC.network };
  return {
    status,
    headers: {
      [PAYMENT_REQUIRED_HEADER]: encodeHeader(required),
      ...(code === 'payment-settlement-failed' ? { [PAYMENT_RESPONSE_HEADER]: encodeHeader(failed) } : {}),
    },
    body: { ...required, ...extra, success: false, code, detail, requestId },
  };
}

/** The answer of a paid call, and its receipt in body and header. */
export function paidAnswer({ body, receipt, isReplay }: PaidOutcome): Answer {
  const cached = { 'Cache-Control': 'private' };
  if (receipt === null) return { headers: cached, body: { ...body, charged: false } };
  return {
    headers: {
      ...cached,
      [PAYMENT_RESPONSE_HEADER]: encodeHeader(settlementResponse(receipt)),
      ...(isReplay ? { [REPLAYED_HEADER]: 'true' } : {}),
    },
    body: { ...body, payment: paymentMember(receipt) },
  };
}

function settlementResponse({ transaction, network, payer, amount }: Receipt): JsonObject {
  return { success: true, transaction, network, payer, amount };
}

function paymentMember({ amount, network, payer, transaction }: Receipt): JsonObject {
  return { amount: usdOf(amount), asset: USDC.asset, network, payer, transaction };
}
