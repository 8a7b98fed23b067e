import type { IncomingMessage } from 'node:http';
import { type Holder, NO_HOLDER } from '../limits/holder.ts';
import type { WorkClass } from '../limits/route-weights.ts';

/** What a request asks for, and who answers for what that costs, as far as it is known. */
export interface AskedWork {
  /** Null where there is no such route. */
  readonly class: WorkClass | null;
  readonly holder: Holder;
  /** Whether some limit has counted the request. */
  readonly isCounted: boolean;
}

const ASKED = new WeakMap<IncomingMessage, AskedWork>();
const UNKNOWN: AskedWork = { class: null, holder: NO_HOLDER, isCounted: false };

export function askedWork(request: IncomingMessage): AskedWork {
  return ASKED.get(request) ?? UNKNOWN;
}

/** Who answers for what a request costs, as far as it is known. */
export function askerOf(request: IncomingMessage): Holder {
  return askedWork(request).holder;
}

/** To be called once the request has found its route. */
export function noteClass(request: IncomingMessage, of: WorkClass): void {
  ASKED.set(request, { ...askedWork(request), class: of });
}

/** To be called once it is known who asks, and again once it is known better. */
export function noteAsker(request: IncomingMessage, holder: Holder): void {
  ASKED.set(request, { ...askedWork(request), holder });
}

/** To be called once a limit has counted the request, or its caller has none. */
export function noteCounted(request: IncomingMessage): void {
  ASKED.set(request, { ...askedWork(request), isCounted: true });
}
