import type { RecordId } from '../protocol/ids.ts';
import type { NodeContext } from './context.ts';
import type { VerifyUrl } from './http/paid/attestation-tail.ts';
import type { Route } from './http/route.ts';

/** What every paid endpoint needs beside its own rooms. */
export interface PaidRooms {
  readonly verifyUrl: VerifyUrl;
}

/** The endpoints that are paid for by the call, and what is free beside them. */
export function paidRoutes(context: NodeContext): readonly Route[] {
  const rooms = paidRooms(context);
  const routes: ((rooms: PaidRooms) => Route)[] = [];
  return routes.map((route) => route(rooms));
}

function paidRooms({ baseUrl }: NodeContext): PaidRooms {
  return { verifyUrl: (id: RecordId): string => `${baseUrl()}/v1/verify/${id}` };
}
