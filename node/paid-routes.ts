import type { RecordId } from '../protocol/ids.ts';
import type { NodeContext } from './context.ts';
import { screeningRoute } from './http/paid/attested-screening.ts';
import { counterpartyRoute } from './http/paid/check-counterparty.ts';
import { attestedInferenceRoute } from './http/paid/attested-inference.ts';
import { factRoutes } from './http/paid/facts.ts';
import { regwatchFeedRoute } from './http/paid/regwatch-feed.ts';
import { verifyAuditRoute } from './http/paid/verify-audit.ts';
import type { Route } from './http/route.ts';
import { paidRecordRoutes } from './paid-record-routes.ts';

/** The endpoints that are paid for by the call, and what is free beside them. */
export function paidRoutes(context: NodeContext): readonly Route[] {
  const verifyUrl = (id: RecordId): string => `${context.baseUrl()}/v1/verify/${id}`;
  const services = { ...context, verifyUrl };
  return [
    ...paidRecordRoutes(context, verifyUrl),
    ...factRoutes(services),
    verifyAuditRoute(services),
    attestedInferenceRoute(services),
    screeningRoute(services),
    counterpartyRoute({ ...services, chain: context.paymentService?.chain ?? null }),
    regwatchFeedRoute(services),
  ];
}
