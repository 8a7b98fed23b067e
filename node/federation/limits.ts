import type { TransportLimits } from './transport/limits.ts';

/**
 * What this federation asks of its transport beyond the defaults: a page may carry one group of 5,000 records, and a
 * busy verifier asks an origin for many payloads a second.
 */
export const FEDERATION_LIMITS: Partial<TransportLimits> = {
  // A member that returns must not be kept waiting: dialling a handful of addresses costs nothing.
  redialMost: 1_500,
  // A cut that nobody was told of is noticed after ten to fifteen seconds. A connection that was given up too soon costs
  // a dial: pages are resumed.
  pingInterval: 5_000,
  pingTimeout: 10_000,
  answerBytes: 32 << 20,
  requestsInFlightPerPeer: 64,
  requestsInFlight: 256,
  requestRatePerPeer: 2_000,
  requestBurstPerPeer: 4_000,
  requestRate: 8_000,
  requestBurst: 16_000,
};
