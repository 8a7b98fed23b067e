import { ALL_MEMBERS_ALLOWANCE, MEMBER_ALLOWANCE } from '../accounts/limits/allowances.ts';
import type { TransportLimits } from '../transport/limits.ts';

/**
 * What this federation asks of its transport beyond the defaults: a page may carry one group of 5,000 records, and a
 * busy verifier asks an origin for many payloads a second.
 */
export const FEDERATION_LIMITS: Partial<TransportLimits> = {
  // A member that returns must not be kept waiting: dialling a handful of addresses costs nothing.
  redialMost: 1_500,
  // A cut that nobody was told of is noticed after ten to fifteen seconds. A connection that was given up too soon
  // costs a dial: pages are resumed.
  pingInterval: 5_000,
  pingTimeout: 10_000,
  answerBytes: MEMBER_ALLOWANCE.answerBytes,
  requestsInFlightPerPeer: MEMBER_ALLOWANCE.requestsUnderWay,
  requestsInFlight: ALL_MEMBERS_ALLOWANCE.requestsUnderWay,
  requestRatePerPeer: MEMBER_ALLOWANCE.requestsPerSecond,
  requestBurstPerPeer: MEMBER_ALLOWANCE.requestsAtOnce,
  requestRate: ALL_MEMBERS_ALLOWANCE.requestsPerSecond,
  requestBurst: ALL_MEMBERS_ALLOWANCE.requestsAtOnce,
};
