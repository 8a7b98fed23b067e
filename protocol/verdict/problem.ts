/** The facts of a verdict (protocol §8), as problems name them. */
export const FACTS = [
  'signed',
  'sealed',
  'onLedger',
  'witnessed',
  'contradicted',
  'payload',
  'rosters',
  'pin',
] as const;
export type Fact = (typeof FACTS)[number];

/** The five checks of api-rules §2.2. */
export const CHECKS = ['leafRederived', 'payloadHashMatch', 'proofWalk', 'bundleBinding', 'sigValid'] as const;
export type Check = (typeof CHECKS)[number];
export type Checks = Readonly<Record<Check, boolean>>;

export const PROBLEM_CODES = [
  'record-malformed',
  'receipt-malformed',
  'envelope-malformed',
  'decision-malformed',
  'node-mismatch',
  'range-mismatch',
  'time-mismatch',
  'key-mismatch',
  'path-to-group',
  'path-to-batch',
  'key-unknown',
  'key-compromised',
  'signature-missing',
  'signature-invalid',
  'rosters-broken',
  'roster-without-majority',
  'federation-mismatch',
  'decision-mismatch',
  'decision-impossible',
  'decision-without-batch',
  'misdated',
  'known-otherwise',
  'too-few-checkpoints',
  'too-few-vouch',
  'too-many-faults',
  'checkpoints-revoked',
  'payload-mismatch',
  'disclosure-malformed',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

/**
 * One thing that does not hold: the fact that it denies, and the one of the five checks that it fails (api-rules §2.3),
 * if any.
 */
export interface Problem {
  readonly fact: Fact;
  readonly check: Check | null;
  readonly code: ProblemCode;
  readonly detail: string;
}

export function problem(fact: Fact, check: Check | null, code: ProblemCode, detail: string): Problem {
  return { fact, check, code, detail };
}

/** What went wrong, in the words of whoever threw it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unreadable';
}
