import type { TieredAttestRequest } from '../../../protocol/api/tiered-attest.ts';
import { assertedClauseWarnings, referenceDatabaseWarnings } from '../../verification/attestation/decision-drafts.ts';
import type { FieldCodes } from '../validation.ts';

/** Warnings that are told one by one. */
const MAX_WARNINGS = 20;

/** The first warnings of a batch, each named by its item (`records[17].extra: …`), and how many more there are. */
export class BatchWarnings {
  readonly #list: string;
  readonly #first: string[] = [];
  #more = 0;

  /** `list`: name of the member that the items stand in; empty where the body is the list. */
  constructor(list: string) {
    this.#list = list;
  }

  add(index: number, warnings: readonly string[]): void {
    for (const warning of warnings) {
      if (this.#first.length < MAX_WARNINGS) this.#first.push(`${this.#list}[${index}].${warning}`);
      else this.#more++;
    }
  }

  get all(): readonly string[] {
    return this.#more === 0 ? this.#first : [...this.#first, `${this.#more} more of this kind`];
  }
}

/** A binding to a model that is not of the documented form is refused, never dropped (api-rules §4.2). */
export const TIERED_CODES: FieldCodes = { model_ref: 'model-binding-invalid' };

/** ISO 3166-1 or 3166-2 codes, and `EU`. Others are signed all the same. */
const JURISDICTION = /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/;

/** What the caller should know of a decision that is signed all the same. */
export function tieredWarnings({
  complianceMeta,
  data,
  referenceDatabase,
}: Pick<TieredAttestRequest, 'complianceMeta' | 'data' | 'referenceDatabase'>): readonly string[] {
  const codes = complianceMeta?.jurisdiction ?? [];
  return [
    ...codes
      .filter((code) => !JURISDICTION.test(code))
      .map((code) => `complianceMeta.jurisdiction: ${JSON.stringify(code)} is not an ISO 3166 code; signed as given`),
    ...assertedClauseWarnings(complianceMeta?.serviceEventType, data),
    ...referenceDatabaseWarnings(referenceDatabase, data),
  ];
}

/** Warns of a word that is not among the recommended ones: it is signed as it is. */
export function recommendedWarnings(field: string, word: string | undefined, recommended: readonly string[]): string[] {
  if (word === undefined || recommended.includes(word)) return [];
  return [`${field}: ${JSON.stringify(word)} is none of ${recommended.join(', ')}; signed as given`];
}
