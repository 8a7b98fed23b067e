import type { RegContent } from '../../../protocol/api/regwatch-item.ts';
import { type Sha256Hash, hashText } from '../../../protocol/hash.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { classify } from './classify.ts';
import { documentText } from './document-text.ts';
import type { Entries, Entry } from './entry.ts';
import { federalRegisterEntries } from './federal-register.ts';
import { feedEntries } from './feed-entries.ts';
import type { SourceTerms } from './source-terms.ts';

/** A document as a source gave it. */
export interface RawDocument {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
}

/** One item of a document. */
export interface GivenItem {
  /** Identity in its source. */
  readonly key: string;
  readonly content: RegContent;
  /** Of what the source says, before any judgement of ours: another hash, and it says something else. */
  readonly givenHash: Sha256Hash;
}

export interface ReadDocument {
  /** Each identity once. */
  readonly items: readonly GivenItem[];
  /** Entries that say nothing, or say again what an earlier one said. */
  readonly skipped: number;
}

/** The items of a document. Throws `RegwatchError`. Costs what a hostile document wants it to: see `DocumentReader`. */
export function readDocument({ bytes, contentType }: RawDocument, terms: SourceTerms): ReadDocument {
  const { entries, skipped } = entriesOf(documentText(bytes, contentType), terms);
  const items = new Map<string, GivenItem>();
  for (const entry of entries) if (!items.has(entry.key)) items.set(entry.key, itemOf(entry, terms));
  return { items: [...items.values()], skipped: skipped + entries.length - items.size };
}

function entriesOf(text: string, { format, timeZone }: SourceTerms): Entries {
  return format === 'federal-register' ? federalRegisterEntries(text) : feedEntries(text, timeZone);
}

function itemOf(entry: Entry, terms: SourceTerms): GivenItem {
  const given = { ...entry, keyDates: entry.keyDates.map((date) => ({ ...date })), signs: [...entry.signs] };
  return {
    key: entry.key,
    content: classify(entry, terms),
    givenHash: hashText(nativeSuite, canonicalize(given)),
  };
}
