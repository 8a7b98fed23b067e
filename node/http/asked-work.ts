import type { IncomingMessage } from 'node:http';
import { type Holder, NO_HOLDER } from '../accounts/limits/holder-counts.ts';
import type { WorkClass } from '../accounts/limits/route-weights.ts';

/** What a request asks for, and who answers for what that costs, as far as it is known. */
export interface AskedWork {
  /** Null where there is no such route. */
  readonly class: WorkClass | null;
  readonly holder: Holder;
  /** Whether some limit has counted the request. */
  readonly isCounted: boolean;
}

type Noted = { -readonly [Key in keyof AskedWork]: AskedWork[Key] };

const ASKED = new WeakMap<IncomingMessage, Noted>();
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
  notedOf(request).class = of;
}

/** To be called once it is known who asks, and again once it is known better. */
export function noteAsker(request: IncomingMessage, holder: Holder): void {
  notedOf(request).holder = holder;
}

/** To be called once a limit has counted the request, or its caller has none. */
export function noteCounted(request: IncomingMessage): void {
  notedOf(request).isCounted = true;
}

function notedOf(request: IncomingMessage): Noted {
  const known = ASKED.get(request);
  if (known !== undefined) return known;
  const noted = { ...UNKNOWN };
  ASKED.set(request, noted);
  return noted;
}
