import { type AtomicAmount, atomicUsdc } from './usdc.ts';

/** A service that is paid for by the call. */
export interface PricedService {
  readonly method: 'GET' | 'POST';
  /** Below the API root, its parameters as `:name`. */
  readonly path: string;
  /** Dollars for one call. */
  readonly usd: string;
  /** One sentence for anyone who decides whether to pay. */
  readonly description: string;
}

/**
 * What is sold, and at which price (api-rules §4.1). The only such table: the terms of a 402 answer, the discovery
 * documents and what OpenAPI says of payment are all made from it. A name, once a payment was settled under it, keeps
 * its meaning.
 */
const TABLE = {
  'tiered-attest': {
    method: 'POST',
    path: '/v1/x402/tiered-attest',
    usd: '0.005',
    description: 'One post-quantum-signed attestation of a decision, anchored within about 60 seconds.',
  },
  'tiered-attest-batch': {
    method: 'POST',
    path: '/v1/x402/tiered-attest-batch',
    usd: '0.035',
    description: 'Up to 1000 attestations in one call, each provable by itself; all or none.',
  },
  'tiered-attest-batch-xl': {
    method: 'POST',
    path: '/v1/x402/tiered-attest-batch-xl',
    usd: '0.135',
    description: 'Up to 5000 attestations in one call, each provable by itself; all or none.',
  },
  'attested-inference': {
    method: 'POST',
    path: '/v1/x402/attested-inference',
    usd: '0.01',
    description:
      'A chat completion of a small hosted model, and an attestation that binds prompt, response and model version.',
  },
  'attested-screening': {
    method: 'POST',
    path: '/v1/x402/attested-screening',
    usd: '0.01',
    description:
      'A name held against the sanctions lists: results by list, the hashes of the lists, and an attestation.',
  },
  'agent-record': {
    method: 'GET',
    path: '/v1/x402/agent-record/:agentId',
    usd: '0.005',
    description: 'A summary of what is on record of an agent, attested.',
  },
  'verify-audit': {
    method: 'POST',
    path: '/v1/x402/verify-audit',
    usd: '0.002',
    description: 'An audit of one attestation with independent cross-checks, and a verdict, attested.',
  },
  'hedera-facts-all': {
    method: 'GET',
    path: '/v1/x402/hedera-facts/all',
    usd: '0.003',
    description: 'All six facts about the Hedera ledger, each attested by itself.',
  },
  'hedera-fact': {
    method: 'GET',
    path: '/v1/x402/hedera-facts/:fact',
    usd: '0.001',
    description: 'An attested snapshot of one fact about the Hedera ledger.',
  },
  'regwatch-feed': {
    method: 'GET',
    path: '/v1/x402/regwatch-feed',
    usd: '0.05',
    description: 'A page of the feed of changes in AI regulation, each item attested when it came in.',
  },
  'wallet-record': {
    method: 'GET',
    path: '/v1/x402/wallet-record/:address',
    usd: '0.005',
    description: "An attested summary of a wallet's payments in this service's own settlement ledger.",
  },
  'check-counterparty': {
    method: 'GET',
    path: '/v1/x402/check-counterparty/:address',
    usd: '0.01',
    description: 'A wallet address held against the sanctions lists, and its profile on the chain, attested.',
  },
} as const satisfies Record<string, PricedService>;

/** Of the description of all that is paid for by the call; a change that old clients cannot read makes a new one. */
export const PAID_API_VERSION = '1.0.0';

export type ServiceName = keyof typeof TABLE;

export const SERVICES: Readonly<Record<ServiceName, PricedService>> = TABLE;
/** In the order of the table, which is also an order in which their paths can be matched. */
export const SERVICE_NAMES: readonly ServiceName[] = Object.keys(TABLE).filter(isServiceName);

/** Services that sell many records in one call. */
export const BATCH_SERVICES = [
  'tiered-attest-batch',
  'tiered-attest-batch-xl',
] as const satisfies readonly ServiceName[];
export type BatchService = (typeof BATCH_SERVICES)[number];

export function isBatchService(service: string): service is BatchService {
  return BATCH_SERVICES.some((batch) => batch === service);
}

function isServiceName(text: string): text is ServiceName {
  return Object.hasOwn(TABLE, text);
}

/** Price of one call in the smallest unit of the stablecoin. */
export function priceOf(service: ServiceName): AtomicAmount {
  return atomicUsdc(SERVICES[service].usd);
}
