import type { Tier } from '../account.ts';
import { ENTRY_BYTES, LARGEST_RECORD_BYTES, LARGEST_VERSION_BYTES, SIGN_UP } from './route-weights.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTES_PER_DAY = 1_440;

/** Of one address (IPv6: of one /64) that shows no API key. */
export const ADDRESS_ALLOWANCE = {
  /** Requests to free endpoints in any 60 seconds, a heavy one counted as several (api-rules §8). */
  freeRequestsPerMinute: 120,
  /** Answers 402 in any 60 seconds that name a price, and payments that do not hold. */
  pricesPerMinute: 60,
  refusedPaymentsPerMinute: 60,
  /**
   * Answers a second that no limit counts (refusals, what does not exist, the health); past it each waits. Also of an
   * account or a wallet.
   */
  uncountedAnswersPerSecond: 100,
  /** Connections that are open. Those of the operator's proxies, which carry many callers, are not counted so. */
  connections: 2_048,
  /** Sign-ups and requests for lost keys together: each has a mail sent, or might have. */
  signUpsPerHour: 10,
  signUpsPerDay: 50,
} as const;

/** What one address may leave for ever in a day, without paying and without a key: accounts. In bytes. */
export const ADDRESS_PERMANENT_BYTES_PER_DAY = ADDRESS_ALLOWANCE.signUpsPerDay * SIGN_UP.permanentBytes;

/** Of all who sign up or have lost their keys, wherever they come from. */
export const SIGN_UP_ALLOWANCE = {
  /** Mails to one recipient in any day, so that nobody can be flooded through a node. */
  mailsPerRecipientAndDay: 5,
  /** People that one account invites in any day. */
  invitationsPerAccountAndDay: 100,
  /** What a mail server may be burdened with. */
  perHour: 1_000,
  perDay: 5_000,
} as const;

/** Of links to sign in: apart from the mails that strangers may have sent, so that those keep nobody out. */
export const SIGN_IN_ALLOWANCE = {
  perAddressAndHour: 60,
  /** Of one caller's address to one recipient: who asks for another's links keeps them out from nowhere else. */
  toOneRecipientAndHour: 10,
  perRecipientAndDay: 50,
} as const;

/** Connections of all callers. The process needs as many file descriptors and 2,000 more. */
export const CONNECTIONS = 8_192;

/** Null: no limit. */
export interface TierLimits {
  /** All authenticated requests of the account, in any 60 seconds. */
  readonly requestsPerMinute: number | null;
  /** Records made by accepted calls, in a UTC day. */
  readonly recordsPerDay: number | null;
}

/** The table of api-rules §8: of one account, all its keys together. */
export const TIER_LIMITS: Readonly<Record<Tier, TierLimits>> = {
  developer: { requestsPerMinute: 60, recordsPerDay: 1_000 },
  standard: { requestsPerMinute: 600, recordsPerDay: 100_000 },
  professional: { requestsPerMinute: 1_200, recordsPerDay: 1_000_000 },
  enterprise: { requestsPerMinute: 6_000, recordsPerDay: null },
  unmetered: { requestsPerMinute: null, recordsPerDay: null },
};

/** A limit on one endpoint, for every metered account, beside that of its tier. */
export interface EndpointLimit {
  readonly requestsPerMinute: number;
  /** The endpoint for callers who need more. */
  readonly instead: string;
}

/** By method and path, as routes name them. */
export const ENDPOINT_LIMITS: Readonly<Record<string, EndpointLimit>> = {
  'POST /v1/attest': { requestsPerMinute: 60, instead: '/v1/tiered-attest' },
};

/** Records a month that the Developer tier is meant for: shown, and never enforced (api-rules §8). */
export const DEVELOPER_MONTHLY_QUOTA = { value: 1_000, enforce: false } as const;

/** Versions of its statement that an account has in a day at most, whatever it changes: one a minute, and a burst. */
export const VERSIONS_PER_DAY = 1_460;

/**
 * What an account may leave for ever in a day: its records, each as large as one may be, a line of its log for each
 * request, and versions of its statement. It follows from api-rules §8, so it refuses nobody by itself. Null: no limit.
 * In bytes.
 */
export function permanentBytesPerDay(tier: Tier): number | null {
  const { requestsPerMinute, recordsPerDay } = TIER_LIMITS[tier];
  if (requestsPerMinute === null || recordsPerDay === null) return null;
  const lines = requestsPerMinute * MINUTES_PER_DAY * ENTRY_BYTES;
  return recordsPerDay * LARGEST_RECORD_BYTES + lines + VERSIONS_PER_DAY * LARGEST_VERSION_BYTES;
}

/** Of one wallet. Its open authorizations are never worth more than it has, whatever it may do beside. */
export const WALLET_ALLOWANCE = {
  /** Calls that it may pay for in any 60 seconds (api-rules §8). */
  paidCallsPerMinute: 600,
  /**
   * Calls in any 60 seconds that it signed for and that came to nothing by its own fault, a long one counted as
   * several: past it nothing of its is read.
   */
  unpaidCallsPerMinute: 600,
  /** Bytes of a body that count as one of them. */
  unpaidCallBytes: 8 * KIB,
  /** Paid calls under way, from the signature to the answer (api-rules §8 item 7). */
  callsUnderWay: 200,
  /** Bytes of the bodies whose records may be prepared and not yet paid for, at the same time. */
  preparedBytes: 256 * MIB,
  /** The same of a wallet that never paid at this node. */
  newcomerPreparedBytes: 48 * MIB,
  /** Batches that a wallet that never paid may have open, and all such wallets together. */
  newcomerBatches: 1,
  allNewcomersBatches: 64,
} as const;

/**
 * Of one other member, which is asked for nothing else than its key. Rates are per second, with what may come at once.
 */
export const MEMBER_ALLOWANCE = {
  /** What answering it may cost of the processor, by the weights of what it asks for, in a minute. In milliseconds. */
  processorMsPerMinute: 20_000,
  /** Bytes that it may be sent in a minute. */
  bytesPerMinute: 3_072 * MIB,
  requestsPerSecond: 2_000,
  requestsAtOnce: 4_000,
  requestsUnderWay: 64,
  /** Of them, of what an honest member asks for one at a time: `status` and `batches`. */
  pagesUnderWay: 8,
  /** Bytes of one answer, and of those that wait to be sent. */
  answerBytes: 32 * MIB,
  unsentBytes: 256 * KIB,
  /** Open streams, asked on or not. */
  streams: 256,
  /**
   * Gossiped messages of its own that are judged, and those under way. Of others' it may hand over four times as many.
   */
  messagesPerSecond: 200,
  messagesAtOnce: 1_000,
  messagesUnderWay: 128,
  /** Gossiped messages, copies among them, that it may hand over before anything of them is looked at. */
  arrivalsPerSecond: 2_000,
  arrivalsAtOnce: 10_000,
} as const;

/** Of all other members together. */
export const ALL_MEMBERS_ALLOWANCE = {
  processorMsPerMinute: 30_000,
  requestsPerSecond: 8_000,
  requestsAtOnce: 16_000,
  requestsUnderWay: 256,
  messagesUnderWay: 512,
} as const;
