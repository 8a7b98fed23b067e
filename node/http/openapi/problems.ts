import { PROBLEM_KINDS, type ProblemCode } from '../problem-codes.ts';
import { weightOf } from '../../accounts/limits/route-weights.ts';
import type { Route } from '../route.ts';
import { holdsSecret } from '../secret-paths.ts';

/** Refusals that follow from what kind of route it is. What a route adds to them stands in its documentation. */
const OF_ALL: readonly ProblemCode[] = ['request-malformed', 'method-not-allowed', 'headers-too-large', 'internal'];
/** A parameter of a path that is no text, or spans more than its segment, makes it another path. */
const OF_PARAMETERS: readonly ProblemCode[] = ['route-not-found'];
const OF_LIMITED: readonly ProblemCode[] = ['rate-limited'];
const OF_KEYED: readonly ProblemCode[] = [
  'api-key-missing',
  'api-key-invalid',
  'api-key-revoked',
  'scope-forbidden',
  'recovering',
];
const OF_BODIES: readonly ProblemCode[] = [
  'missing-field',
  'invalid-field',
  'invalid-json',
  'request-aborted',
  'request-timeout',
  'payload-too-large',
  'unsupported-media-type',
];
/** As many calls of its class are under way as may be. */
const OF_BOUNDED: readonly ProblemCode[] = ['dependency-unavailable'];
/** A node that has started answers what anyone may read, and no more: nothing under a path that is a secret. */
const OF_CHANGING: readonly ProblemCode[] = ['recovering'];
const OF_PAID: readonly ProblemCode[] = [
  'payment-required',
  'payment-refused',
  'payment-resource-mismatch',
  'payment-settlement-failed',
  'payment-invalid',
  'payment-bound-elsewhere',
  'payment-identifier-conflict',
  'payment-answer-ended',
  'payment-unavailable',
  'payment-outcome-unknown',
  'recovering',
  'chain-closed',
  'clock-off',
  'queue-full',
  'storage-full',
];
const OF_RECORDING: readonly ProblemCode[] = [
  'daily-cap-exceeded',
  'idempotency-conflict',
  'chain-closed',
  'clock-off',
  'queue-full',
  'storage-full',
];

/** Whether an accepted call makes records. */
export function isRecording(route: Route): boolean {
  return route.access === 'key' && (route.records ?? 0) > 0;
}

/** All codes that a route refuses with, by their status, in order. */
export function problemsByStatus(route: Route): ReadonlyMap<number, readonly ProblemCode[]> {
  const isLimited = route.access !== 'free' || route.limited !== false;
  const codes = new Set<ProblemCode>([
    ...OF_ALL,
    ...(/[:*]/.test(route.path) ? OF_PARAMETERS : []),
    ...(route.access === 'key' ? OF_KEYED : []),
    ...(route.access === 'paid' ? OF_PAID : []),
    ...(isLimited ? OF_LIMITED : []),
    ...(weightOf(route).class === 'health' ? [] : OF_BOUNDED),
    ...(route.documentation.request === undefined ? [] : OF_BODIES),
    ...(route.method === 'GET' && !holdsSecret(route.path) ? [] : OF_CHANGING),
    ...(isRecording(route) ? OF_RECORDING : []),
    ...route.documentation.problems,
  ]);
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = PROBLEM_KINDS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other));
}
