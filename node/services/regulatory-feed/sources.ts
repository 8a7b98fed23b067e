import { readFile } from 'node:fs/promises';
import Type, { type Static } from 'typebox';
import { REG_FRAMEWORKS } from '../../../protocol/api/regwatch-item.ts';
import {
  INSTRUMENT_TYPES,
  JURISDICTION_PATTERN,
  MAX_AUTHORITY,
  MAX_LABELS,
  REG_STATUSES,
} from '../../../protocol/api/regwatch-words.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import { Closed } from '../../../protocol/shapes.ts';
import { isLoopback } from '../../outbound/redirects.ts';
import { DOCUMENT_FORMATS, type SourceTerms } from './entry.ts';
import { OPERATOR_SOURCE } from './item-intake.ts';
import { SOURCE_ID_PATTERN } from './regwatch-tables.ts';

const labels = { maxItems: MAX_LABELS };
const MIN_INTERVAL_MINUTES = 5;
const MAX_INTERVAL_MINUTES = 7 * 24 * 60;
const DEFAULT_INTERVAL_MINUTES = 60;
const MINUTE_MS = 60_000;
const MAX_SOURCES = 200;

/** What is known of a source beside its documents, as a person writes it. */
export const SourceTermsShape = Closed({
  id: Type.String({ pattern: SOURCE_ID_PATTERN }),
  format: Type.Optional(Type.Enum([...DOCUMENT_FORMATS])),
  authority: Type.String({ minLength: 1, maxLength: MAX_AUTHORITY }),
  jurisdictions: Type.Optional(Type.Array(Type.String({ pattern: JURISDICTION_PATTERN }), labels)),
  frameworks: Type.Optional(Type.Array(Type.Enum([...REG_FRAMEWORKS]), labels)),
  instrumentType: Type.Optional(Type.Enum([...INSTRUMENT_TYPES])),
  status: Type.Optional(Type.Enum([...REG_STATUSES])),
  timeZone: Type.Optional(Type.Refine(Type.String(), isTimeZone, () => 'is no time zone')),
});

const SourcesFileShape = Closed({
  sources: Type.Array(
    Closed({
      ...SourceTermsShape.properties,
      url: Type.String(),
      intervalMinutes: Type.Optional(Type.Integer({ minimum: MIN_INTERVAL_MINUTES, maximum: MAX_INTERVAL_MINUTES })),
    }),
    { maxItems: MAX_SOURCES },
  ),
});
const compiled = Compile(SourcesFileShape);

/** A source that is asked again and again. */
export interface Source {
  readonly url: string;
  readonly intervalMs: number;
  readonly terms: SourceTerms;
}

/** The operator's file of sources cannot be used. */
export class SourcesError extends Error {
  override readonly name = 'SourcesError';
}

/**
 * The sources that the file names; none where there is no file. Throws `SourcesError` naming what is at fault: half of
 * the sources is worse than none.
 */
export async function readSources(file: string | null): Promise<readonly Source[]> {
  if (file === null) return [];
  const value = await parsed(file);
  if (!compiled.Check(value)) {
    const [fault] = compiled.Errors(value);
    throw fault === undefined ? wrong('has another shape') : wrong(`${fault.instancePath} ${fault.message}`);
  }
  const ids = new Set<string>();
  return value.sources.map((source) => {
    if (ids.has(source.id)) throw wrong(`${source.id} is there twice`);
    ids.add(source.id);
    return sourceOf(source);
  });
}

/** The terms with what is left out. */
export function termsOf(given: Static<typeof SourceTermsShape>): SourceTerms {
  const { jurisdictions = [], frameworks = [], format = 'feed', ...rest } = given;
  return { ...rest, jurisdictions, frameworks, format };
}

function sourceOf({
  url: text,
  intervalMinutes = DEFAULT_INTERVAL_MINUTES,
  ...terms
}: Static<typeof SourcesFileShape>['sources'][number]): Source {
  if (terms.id === OPERATOR_SOURCE) throw wrong(`${OPERATOR_SOURCE} is the source of the operator's own items`);
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !isSafe) throw wrong(`the url of ${terms.id} is no https address`);
  if (url.username !== '' || url.password !== '') throw wrong(`the url of ${terms.id} holds a user or password`);
  return { url: url.href, intervalMs: intervalMinutes * MINUTE_MS, terms: termsOf(terms) };
}

async function parsed(file: string): Promise<unknown> {
  try {
    return parseJson(await readFile(file, 'utf8'));
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : 'cannot be read');
  }
}

function wrong(message: string): SourcesError {
  return new SourcesError(`REGWATCH_SOURCES: ${message}`);
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
