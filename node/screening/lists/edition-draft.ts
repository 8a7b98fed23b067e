import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { Draft } from '../../intake/draft.ts';
import type { Edition } from './contract.ts';
import type { EditionManifest } from './edition-manifest.ts';
import { editionVersion } from './freshness.ts';

/** The name that the records of lists stand under. No account can have it: it holds a colon. */
const LISTS_ACCOUNT = 'meridian:lists';
/** Each list is a source of its own, so that its editions form one chain. */
const LISTS_SOURCE = 'meridian/lists';

/** Where a node has an edition from. */
export interface EditionOrigin {
  readonly kind: 'import' | 'update';
  /** Addresses that the files were fetched from; of an import none. */
  readonly urls: readonly string[];
  /** Whether an operator confirmed that it is much smaller than the one before. */
  readonly shrinkAccepted: boolean;
  /** Whether it was in force already. */
  readonly unchanged: boolean;
}

/** What intake records of an edition that came into force, or was found unchanged. */
export function editionDraft(
  edition: Omit<Edition, 'attestationId'>,
  { names, addressCount, unmatchedRows }: EditionManifest,
  origin: EditionOrigin,
): Draft {
  const { listId, fileHash, retrievedAt, files } = edition;
  const payload = {
    ...edition,
    files: files.map(({ name, sha256, bytes }) => ({ name, sha256, bytes })),
    names: { ...names },
    addressCount,
    unmatchedRows,
    origin: { ...origin, urls: [...origin.urls] },
  };
  return {
    kind: 'key_event',
    account: LISTS_ACCOUNT,
    sourceId: `${LISTS_SOURCE}/${listId}`,
    payload: canonicalize(payload),
    claims: {
      channel: 'tiered',
      keyEvent: 'list-edition',
      rawHash: fileHash,
      observedAt: retrievedAt,
      referenceDatabase: [{ id: listId, version: editionVersion(edition), sha256: fileHash }],
    },
    links: {},
  };
}
