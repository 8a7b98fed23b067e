import type { Gate } from './gate.ts';
import type { PaidGate } from './paid-gate.ts';
import { Problem } from './problem.ts';

/** When a caller may ask again. In seconds. */
const RETRY_AFTER = { headers: { 'Retry-After': '30' } };

/** Whether the node may sign nothing yet. */
export interface Starting {
  readonly pending: boolean;
}

/**
 * What a node answers while it may not sign: whatever anyone may read without a key goes on. All that needs a key or a
 * payment is refused with 503: the store may be a copy that does not know that a key was revoked or a payment made.
 */
export function startingGate(gate: Gate, start: Starting): Gate {
  return {
    free: (context, route, answer) =>
      start.pending && route.method !== 'GET' ? Promise.reject(recovering()) : gate.free(context, route, answer),
    keyed: (context, route, answer) =>
      start.pending ? Promise.reject(recovering()) : gate.keyed(context, route, answer),
  };
}

/** The operator's: meanwhile these paths alone are answered. */
export function startingOperatorGate(gate: Gate, start: Starting, openPaths: readonly string[]): Gate {
  return {
    free: (context, route, answer) =>
      start.pending && !openPaths.includes(route.path)
        ? Promise.reject(recovering())
        : gate.free(context, route, answer),
    keyed: gate.keyed,
  };
}

/** `paid`: undefined until the node takes payments, null where it takes none. */
export function startingPaidGate(paid: () => PaidGate | undefined): Pick<PaidGate, 'answer'> {
  return {
    answer(call, route) {
      const gate = paid();
      return gate === undefined ? Promise.reject(recovering()) : gate.answer(call, route);
    },
  };
}

function recovering(): Problem {
  const detail = 'The node has started and does not know yet how far its chain goes.';
  return new Problem('recovering', detail, RETRY_AFTER);
}
