import type { RecordId } from '../protocol/ids.ts';
import type { NodeContext } from './context.ts';
import type { VerifyUrl } from './http/paid/attestation-tail.ts';
import { screeningRoute } from './http/paid/attested-screening.ts';
import { counterpartyRoute } from './http/paid/check-counterparty.ts';
import { attestedInferenceRoute } from './http/paid/attested-inference.ts';
import { factRoutes } from './http/paid/facts.ts';
import { regwatchFeedRoute } from './http/paid/regwatch-feed.ts';
import { verifyAuditRoute } from './http/paid/verify-audit.ts';
import type { Route } from './http/route.ts';
import { paidRecordRoutes } from './paid-record-routes.ts';

/** What every paid endpoint needs beside its own rooms. */
export interface PaidRooms {
  readonly verifyUrl: VerifyUrl;
}

/** The endpoints that are paid for by the call, and what is free beside them. */
export function paidRoutes(context: NodeContext): readonly Route[] {
  const rooms = paidRooms(context);
  const routes: ((rooms: PaidRooms) => Route)[] = [...paidRecordRoutes(context)];
  return [
    ...routes.map((route) => route(rooms)),
    ...factRoutes({ ...context, ...rooms }),
    verifyAuditRoute({ ...context, ...rooms }),
    attestedInferenceRoute({ ...context, ...rooms }),
    screeningRoute({ ...context, ...rooms }),
    counterpartyRoute({ ...context, ...rooms, chain: context.till?.chain ?? null }),
    regwatchFeedRoute({ ...context, ...rooms }),
  ];
}

function paidRooms({ baseUrl }: NodeContext): PaidRooms {
  return { verifyUrl: (id: RecordId): string => `${baseUrl()}/v1/verify/${id}` };
}
