import type { RegContent } from '../../../protocol/api/regwatch-item.ts';
import { type InstrumentType, MAX_LABELS, type RegStatus, UNCLASSIFIED } from '../../../protocol/api/regwatch-words.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { type Condition, type Rule, RULES } from './classification-rules.ts';
import type { Entry, SourceTerms } from './entry.ts';

/** An entry as the conditions read it. */
interface Reading {
  readonly signs: ReadonlySet<string>;
  readonly title: string;
  readonly text: string;
}

/**
 * The item that an entry makes, judged by the documented rules and the terms of its source alone. What they do not tell
 * is `unclassified`.
 */
export function classify(entry: Entry, terms: SourceTerms): RegContent {
  const reading = readingOf(entry);
  const jurisdictions = new Set(terms.jurisdictions);
  const frameworks = new Set(terms.frameworks);
  let instrumentType: InstrumentType | undefined;
  let status: RegStatus | undefined;
  for (const rule of RULES) {
    if (!holds(rule.when, reading, jurisdictions)) continue;
    addAll(jurisdictions, rule.jurisdictions);
    addAll(frameworks, rule.frameworks);
    instrumentType ??= rule.instrumentType;
    status ??= rule.status;
  }
  return {
    title: entry.title,
    summary: entry.summary,
    jurisdictions: labelsOf(jurisdictions),
    frameworks: labelsOf(frameworks),
    authority: entry.authority ?? terms.authority,
    instrumentType: instrumentType ?? terms.instrumentType ?? UNCLASSIFIED,
    status: status ?? terms.status ?? UNCLASSIFIED,
    citation: entry.citation,
    publishedAt: entry.publishedAt === null ? null : timestampOf(entry.publishedAt),
    effectiveAt: entry.effectiveAt === null ? null : timestampOf(entry.effectiveAt),
    keyDates: entry.keyDates.map(({ date, label }) => ({ date, label })),
    sourceUrl: entry.link,
  };
}

function readingOf({ signs, title, summary }: Entry): Reading {
  return { signs: new Set(signs), title: words(title), text: words(`${title} ${summary}`) };
}

function holds(
  { signs, phrases, titlePhrases, jurisdictions }: Rule['when'],
  reading: Reading,
  known: ReadonlySet<string>,
): boolean {
  return (
    (signs === undefined || signs.some((sign) => reading.signs.has(sign))) &&
    (phrases === undefined || phrases.some((phrase) => reading.text.includes(words(phrase)))) &&
    (titlePhrases === undefined || titlePhrases.some((phrase) => reading.title.includes(words(phrase)))) &&
    (jurisdictions === undefined || jurisdictions.some((jurisdiction) => known.has(jurisdiction)))
  );
}

/** Lower case, one space between words and at both ends, so that a phrase is found as whole words alone. */
function words(text: string): string {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u2010-\u2015]/g, '-');
  return ` ${plain
    .replaceAll(/[^\p{L}\p{N}/.:&-]+|[.:](?=\s|$)/gu, ' ')
    .trim()
    .replaceAll(/\s+/g, ' ')} `;
}

function addAll(set: Set<string>, labels: Condition['jurisdictions'] = []): void {
  for (const label of labels) set.add(label);
}

function labelsOf(labels: ReadonlySet<string>): string[] {
  return labels.size === 0 ? [UNCLASSIFIED] : [...labels].sort().slice(0, MAX_LABELS);
}
