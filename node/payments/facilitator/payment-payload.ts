import type { PaymentPayload } from '@x402/core/types';
import { wireAuthorization } from '../../../protocol/payments/payment.ts';
import { type PaymentRequirements, X402_VERSION } from '../../../protocol/payments/terms.ts';
import type { SignedAuthorization } from './contract.ts';

/** What a facilitator is given: the terms as they were accepted, what was signed, and what the seller says of it. */
export function payloadOf(
  { authorization, signature, listing }: SignedAuthorization,
  terms: PaymentRequirements,
): PaymentPayload {
  return {
    x402Version: X402_VERSION,
    accepted: terms,
    payload: { signature, authorization: { ...wireAuthorization(authorization) } },
    ...(listing === undefined ? {} : { resource: listing.resource, extensions: listing.extensions }),
  };
}
