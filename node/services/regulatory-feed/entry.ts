import type { InstrumentType, RegStatus } from '../../../protocol/api/regwatch-words.ts';

export const DOCUMENT_FORMATS = ['feed', 'federal-register'] as const;
/** `feed`: RSS, Atom or RDF. `federal-register`: JSON of the documents API of federalregister.gov. */
type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** What is known of a source beside its documents. */
export interface SourceTerms {
  readonly id: string;
  readonly format: DocumentFormat;
  readonly authority: string;
  /** What all of its items concern; may be empty. */
  readonly jurisdictions: readonly string[];
  readonly frameworks: readonly string[];
  /** Where no rule says more. */
  readonly instrumentType?: InstrumentType;
  readonly status?: RegStatus;
  /** Of dates that name no zone; without it they count as none. An IANA name. */
  readonly timeZone?: string;
}

/** What a source says of one item, read and cleaned, and not yet judged. */
export interface Entry {
  /** What tells it from the other items of its source, however often it is given again. */
  readonly key: string;
  /** Plain text; not empty. */
  readonly title: string;
  /** Plain text. */
  readonly summary: string;
  readonly link: string | null;
  readonly citation: string | null;
  /** Whoever the document says it is from; null leaves that to the source's own terms. */
  readonly authority: string | null;
  /** Epoch milliseconds. */
  readonly publishedAt: number | null;
  readonly effectiveAt: number | null;
  readonly keyDates: readonly KeyDate[];
  /** Words of the source's own that the rules know, e.g. `celex:3R`, `fr:rule`. */
  readonly signs: readonly string[];
}

export interface KeyDate {
  /** UTC day. */
  readonly date: string;
  readonly label: string;
}

/** Entries read of one document, and how many there were that say nothing. */
export interface Entries {
  readonly entries: readonly Entry[];
  readonly skipped: number;
}

/** Entries of one document at most; real feeds have some hundred. */
export const MAX_ENTRIES = 2_000;
/** Longest identity that is taken as it is. Characters. */
export const MAX_KEY = 1_000;
