import type { Claims } from '../../protocol/chain/claims.ts';
import { editionVersion } from './lists/freshness.ts';
import type { UsableList } from './list-searches.ts';

/** The edition that an answer stands on, as the answer shows it. */
export function listedEdition({ search: { edition }, isStale }: UsableList) {
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
