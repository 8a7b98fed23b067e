import type { RegContent } from '../../../protocol/api/regwatch-item.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { classify } from './classify.ts';
import type { Entries, Entry, SourceTerms } from './entry.ts';
import { federalRegisterEntries } from './federal-register.ts';
import { feedEntries } from './feed-entries.ts';
import { refused } from './regwatch-error.ts';

/** How much of a document is looked at for its XML declaration. In bytes. */
const DECLARATION_BYTES = 200;
const DEFAULT_CHARSET = 'utf-8';
const MARKS: readonly (readonly [charset: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/**
 * The text of a document's bytes. The encoding is that of a byte order mark, else of the Content-Type, else of the XML
 * declaration, else UTF-8 (RFC 7303 §3). Throws `RegwatchError` where it is unknown, or the bytes are not in it.
 */
function documentText(bytes: Uint8Array, contentType: string | null): string {
  const charset = markOf(bytes) ?? charsetOf(contentType ?? '') ?? declaredIn(bytes) ?? DEFAULT_CHARSET;
  const decoder = decoderOf(charset);
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw refused(`the document is not in ${charset}`, error);
  }
}

function markOf(bytes: Uint8Array): string | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte))?.[0];
}

function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([A-Za-z0-9_:.-]{1,40})/i.exec(contentType)?.[1];
}

function declaredIn(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1');
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9_:.-]{1,40})["']/.exec(head)?.[1];
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch (error) {
    throw refused(`the encoding ${charset} is not known`, error);
  }
}

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
