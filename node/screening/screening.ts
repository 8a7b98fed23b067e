import type { Claims } from '../../protocol/chain/claims.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { INSIDE_WORDS, nameKey, NORMALIZATION } from '../../protocol/screening/name-key.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Match } from './edition-search.ts';
import type { UsableList } from './list-searches.ts';
import { editionVersion } from './lists/freshness.ts';
import type { ListId } from './lists/list-id.ts';

/** How names are compared, as the answer and its record state it. */
const MATCH_METHOD = {
  normalization: NORMALIZATION,
  insideWords: INSIDE_WORDS,
  rules: ['exact', 'substring'],
} as const;

export type ScreeningResult = 'match' | 'no-match';

/** What a name came to on one list. */
export type ScreenedList = {
  readonly listId: ListId;
  readonly authority: string;
  readonly title: string;
  readonly entryCount: number;
  readonly fileHash: Sha256Hash;
  readonly fileDate: string | null;
  readonly retrievedAt: Timestamp;
  readonly stale: boolean;
  readonly sample: boolean;
  readonly result: ScreeningResult;
  /** Entries that match; of them only so many are in `matches`. */
  readonly matchCount: number;
  readonly matches: readonly Match[];
  readonly truncated: boolean;
};

/** What a name came to. It does not hold the name. */
export type Screening = {
  readonly result: ScreeningResult;
  readonly matchCount: number;
  readonly matchMethod: typeof MATCH_METHOD;
  readonly totalEntries: number;
  readonly sample: boolean;
  readonly lists: readonly ScreenedList[];
};

/** Holds a name against lists (api-rules §4.1). Takes well below a millisecond. */
export function screenName(name: string, lists: Iterable<UsableList>): Screening {
  const key = nameKey(name);
  const screened = [...lists].map((list) => screenedList(key, list));
  const matchCount = screened.reduce((sum, list) => sum + list.matchCount, 0);
  return {
    result: resultOf(matchCount),
    matchCount,
    matchMethod: MATCH_METHOD,
    totalEntries: screened.reduce((sum, { entryCount }) => sum + entryCount, 0),
    sample: screened.some(({ sample }) => sample),
    lists: screened,
  };
}

function screenedList(key: string, list: UsableList): ScreenedList {
  const { count, matches } = list.search.byName(key);
  return {
    ...listedEdition(list),
    result: resultOf(count),
    matchCount: count,
    matches,
    truncated: count > matches.length,
  };
}

function resultOf(matchCount: number): ScreeningResult {
  return matchCount > 0 ? 'match' : 'no-match';
}

/** The edition that an answer stands on, as the answer shows it. */
function listedEdition({ search: { edition }, isStale }: UsableList) {
  const { listId, authority, title, entryCount, fileHash, fileDate, retrievedAt, sample } = edition;
  return { listId, authority, title, entryCount, fileHash, fileDate, retrievedAt, stale: isStale, sample };
}

/** The editions as the record of an answer names them (EU AI Act Art. 12(3)(b)). */
export function referenceDatabase(lists: Iterable<UsableList>): NonNullable<Claims['referenceDatabase']> {
  return [...lists].map(({ search: { edition } }) => ({
    id: edition.listId,
    sha256: edition.fileHash,
    version: editionVersion(edition),
  }));
}
