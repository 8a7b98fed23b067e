import type { AttestationRecord } from '../chain/record.ts';
import type { Timestamp } from '../time.ts';
import { type LinkedRecord, speakingFor } from './linked-record.ts';
import { isHumanOverride, isOverrideOf, isVerifying, twoReviewers } from './oversight.ts';
import { isEndFor, isStartFor, sessionOf } from './session.ts';

export const RULE_SET = 'evidence-rules/1';
export const MEANING = 'Evidence recorded; not a determination of compliance.';

/** Clauses of the EU AI Act that the rules look for evidence of. */
export const CLAUSES = [
  'article12_1',
  'article12_2',
  'article12_3a',
  'article12_3b',
  'article12_3c',
  'article12_3d',
  'article14',
  'article14_5',
] as const;
export type Clause = (typeof CLAUSES)[number];

/** What a clause can lack. Each is a claim, a kind of record, or says what is wrong with those that are there. */
export const LACKS = [
  'signature',
  'modelId',
  'modelVersion',
  'inputHash',
  'riskLevel-or-confidenceScore',
  'referenceDatabase',
  'matched',
  'session',
  'session_start',
  'session_end',
  'time-within-session',
  'human_override',
  'reviewOutcome',
  'second-reviewer',
] as const;
export type Lack = (typeof LACKS)[number];

/** Booleans, never null: what is not shown is false. */
export type ComplianceStatus = Readonly<Record<'article12_1' | 'article12_2' | 'article12_3b' | 'article14', boolean>>;

export interface ComplianceDetail extends Readonly<
  Record<'article12_3a' | 'article12_3c' | 'article12_3d' | 'article14_5', boolean>
> {
  readonly ruleSet: typeof RULE_SET;
  /** When the linked records were gathered; null where the verifier did not say. */
  readonly evaluatedAt: Timestamp | null;
  readonly reasons: readonly { readonly key: Clause; readonly satisfied: boolean; readonly missing: readonly Lack[] }[];
  readonly meaning: typeof MEANING;
}

export interface Evaluation {
  readonly complianceStatus: ComplianceStatus;
  readonly complianceDetail: ComplianceDetail;
}

export interface Subject {
  /** Null where its text cannot be read. */
  readonly record: AttestationRecord | null;
  /** Whether its proof holds, so that the signatures are over this very record. If not, nothing is shown. */
  readonly sigValid: boolean;
  /**
   * Whether its node speaks for its account. If not, it is no review, and neither begins, ends nor lies in a session.
   */
  readonly speaks: boolean;
}

type Lacking = Readonly<Record<Clause, readonly Lack[]>>;

/**
 * Rule set `evidence-rules/1`: the evidence for clauses of the EU AI Act that a signed record shows together with
 * signed records linked to it. Never what a payload says, and never a legal judgement. A further linked record can show
 * more and never less; one that does not hold, of another account, or of a node that does not speak for it, changes
 * nothing.
 */
export function evaluate(
  { record, sigValid, speaks }: Subject,
  linked: readonly LinkedRecord[],
  at: Timestamp | null,
): Evaluation {
  const lacking = record === null || !sigValid ? UNSIGNED : lackingOf(record, speaks, speakingFor(record, linked));
  const shows = (clause: Clause) => lacking[clause].length === 0;
  return {
    complianceStatus: {
      article12_1: shows('article12_1'),
      article12_2: shows('article12_2'),
      article12_3b: shows('article12_3b'),
      article14: shows('article14'),
    },
    complianceDetail: {
      ruleSet: RULE_SET,
      evaluatedAt: at,
      article12_3a: shows('article12_3a'),
      article12_3c: shows('article12_3c'),
      article12_3d: shows('article12_3d'),
      article14_5: shows('article14_5'),
      reasons: CLAUSES.map((key) => ({ key, satisfied: shows(key), missing: lacking[key] })),
      meaning: MEANING,
    },
  };
}

const ONLY_SIGNATURE: readonly Lack[] = ['signature'];
const UNSIGNED: Lacking = {
  article12_1: ONLY_SIGNATURE,
  article12_2: ONLY_SIGNATURE,
  article12_3a: ONLY_SIGNATURE,
  article12_3b: ONLY_SIGNATURE,
  article12_3c: ONLY_SIGNATURE,
  article12_3d: ONLY_SIGNATURE,
  article14: ONLY_SIGNATURE,
  article14_5: ONLY_SIGNATURE,
};

/** What a clause lacks; it is shown where it lacks nothing. */
function lackingOf(record: AttestationRecord, speaks: boolean, others: readonly AttestationRecord[]): Lacking {
  const overrides = others.filter((other) => isOverrideOf(record, other));
  const oversight = lackUnless(overrides.length > 0, 'human_override');
  return {
    // The closed shape of a record makes it a time-stamped, ordered event of a named source.
    article12_1: [],
    article12_2: lackOfTraceability(record),
    article12_3a: lackOfSession(record, speaks ? [...others, record] : []),
    article12_3b: lackUnless(
      (record.claims.referenceDatabase ?? []).some(({ id }) => id !== ''),
      'referenceDatabase',
    ),
    article12_3c: lackOfMatchedInput(record),
    article12_3d: oversight,
    article14: speaks && isHumanOverride(record) ? [] : oversight,
    article14_5: lackOfTwoPersons(overrides),
  };
}

function lackOfTraceability({ claims }: AttestationRecord): readonly Lack[] {
  const { modelId, modelVersion, inputHash, riskLevel, confidenceScore } = claims;
  return [
    ...lackUnless(isGiven(modelId), 'modelId'),
    ...lackUnless(isGiven(modelVersion), 'modelVersion'),
    ...lackUnless(inputHash !== undefined, 'inputHash'),
    ...lackUnless(isGiven(riskLevel) || confidenceScore !== undefined, 'riskLevel-or-confidenceScore'),
  ];
}

/** Start and end of the period of use, both on record, and the record made between them. */
function lackOfSession(record: AttestationRecord, candidates: readonly AttestationRecord[]): readonly Lack[] {
  if (sessionOf(record) === undefined) return ['session'];
  const starts = candidates.filter((candidate) => isStartFor(record, candidate));
  const ends = candidates.filter((candidate) => isEndFor(record, candidate));
  if (starts.length === 0 || ends.length === 0) {
    return [...lackUnless(starts.length > 0, 'session_start'), ...lackUnless(ends.length > 0, 'session_end')];
  }
  const at = record.submittedAt;
  const isWithin = starts.some((start) => start.submittedAt <= at) && ends.some((end) => at <= end.submittedAt);
  return lackUnless(isWithin, 'time-within-session');
}

/** Of no match there is no input to keep. */
function lackOfMatchedInput({ claims }: AttestationRecord): readonly Lack[] {
  if (claims.matched === undefined) return ['matched'];
  return lackUnless(!claims.matched || claims.inputHash !== undefined, 'inputHash');
}

function lackOfTwoPersons(overrides: readonly AttestationRecord[]): readonly Lack[] {
  if (twoReviewers(overrides).length > 0) return [];
  if (overrides.length === 0) return ['human_override', 'second-reviewer'];
  return [...lackUnless(overrides.some(isVerifying), 'reviewOutcome'), 'second-reviewer'];
}

function lackUnless(holds: boolean, lack: Lack): readonly Lack[] {
  return holds ? [] : [lack];
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}
