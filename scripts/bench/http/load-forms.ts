/** How the records of a request are sent: one by itself, many as a list, or one a line. */
export type LoadForm = 'one' | 'list' | 'lines';

/** Records of a request that has many. */
export const BATCH_RECORDS = 1_000;

/** One round of load, asked of the process that makes it. */
export interface LoadQuestion {
  readonly form: LoadForm;
  readonly url: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly seconds: number;
}

/** What a round of load saw: answers with status 200, and all else. Times in milliseconds. */
export interface LoadAnswer {
  readonly answers: number;
  readonly failed: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export function isLoadAnswer(value: unknown): value is LoadAnswer {
  return typeof value === 'object' && value !== null && 'perSecond' in value && 'p99' in value;
}
