/** One record an item of a JSON array, or one a line. */
export type BatchForm = 'list' | 'lines';

/** One round of load, asked of the process that makes it. */
export interface LoadQuestion {
  readonly url: string;
  readonly apiKey: string;
  /** Records of one request. Default: one record, as it is. */
  readonly batch?: number;
  /** How those of a batch are sent. Default: as a JSON array. */
  readonly form?: BatchForm;
  readonly connections: number;
  readonly seconds: number;
}

/**
 * What a round of load saw: requests that were answered with status 200, and all else. Times of a request in
 * milliseconds.
 */
export interface LoadAnswer {
  /** Sent in the requests that were answered. */
  readonly records: number;
  /** Requests. */
  readonly failed: number;
  /** Records. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export function isLoadAnswer(value: unknown): value is LoadAnswer {
  return typeof value === 'object' && value !== null && 'perSecond' in value && 'p99' in value;
}
