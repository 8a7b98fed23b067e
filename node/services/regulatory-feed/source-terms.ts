import type { InstrumentType, RegStatus } from '../../../protocol/api/regwatch-words.ts';

export const DOCUMENT_FORMATS = ['feed', 'federal-register'] as const;
/** `feed`: RSS, Atom or RDF. `federal-register`: JSON of the documents API of federalregister.gov. */
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

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
