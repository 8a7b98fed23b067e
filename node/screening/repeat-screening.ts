import { decodeBase64url, EncodingError } from '../../protocol/bytes.ts';
import { isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import type { RecordId } from '../../protocol/ids.ts';
import { commit } from '../../protocol/payload/commitment.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import type { Claims } from '../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Edition, Lists } from './lists/contract.ts';
import { isListId } from './lists/list-id.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import { EditionSearch } from './edition-search.ts';
import type { Pack } from './list-searches.ts';
import { type ScreenedList, type ScreeningResult, screenName } from './screening.ts';

export const REPEAT_ERROR_CODES = ['record-unknown', 'no-screening', 'query-mismatch', 'edition-gone'] as const;
type RepeatErrorCode = (typeof REPEAT_ERROR_CODES)[number];

export class RepeatError extends Error {
  override readonly name = 'RepeatError';
  readonly code: RepeatErrorCode;

  constructor(code: RepeatErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What was asked then: the name, and the salt that the answer gave. */
interface AskedThen {
  readonly attestationId: RecordId;
  readonly name: string;
  readonly salt: Base64url;
}

interface RepeatedScreening {
  /** What the record says that it came to. */
  readonly recorded: ScreeningResult;
  /** What it comes to now, against the very editions that the record names. */
  readonly repeated: ScreeningResult;
  readonly lists: readonly ScreenedList[];
}

export interface RepeatSources {
  readonly store: Store;
  readonly lists: Pick<Lists, 'edition'>;
  readonly pack: Pack;
}

/**
 * Holds a name once more against the lists that an old screening saw, by the hashes in its record. Throws `RepeatError`
 * where the record is no screening, is of another name, or names an edition that is not kept.
 */
export async function repeatScreening(
  { store, lists, pack }: RepeatSources,
  { attestationId, name, salt }: AskedThen,
  signal: AbortSignal,
): Promise<RepeatedScreening> {
  const stored = await readRecord(store, attestationId);
  if (stored === undefined) throw new RepeatError('record-unknown', `this node has no record ${attestationId}`);
  const { recorded, databases, inputHash } = screeningOf(stored.record);
  if (hashOf(name, salt) !== inputHash) {
    throw new RepeatError('query-mismatch', 'the record is of another name, or the salt is not its own');
  }
  // All are found before any is read, which takes long.
  const editions = await Promise.all(databases.map((database) => editionOf(lists, database)));
  const screened: ScreenedList[] = [];
  for (const edition of editions) {
    const search = new EditionSearch(edition, await pack(edition, signal));
    screened.push(...screenName(name, [{ search, isStale: false }]).lists);
  }
  const repeated = screened.some(({ result }) => result === 'match') ? 'match' : 'no-match';
  return { recorded, repeated, lists: screened };
}

/** What the record committed to; null where the salt can be none. */
function hashOf(name: string, salt: Base64url): Sha256Hash | null {
  try {
    return commit(nativeSuite, 'meridian/input/1', decodeBase64url(salt), name);
  } catch (error) {
    if (error instanceof EncodingError || error instanceof RangeError) return null;
    throw error;
  }
}

type Database = NonNullable<Claims['referenceDatabase']>[number];

function screeningOf({ kind, claims }: AttestationRecord): {
  readonly recorded: ScreeningResult;
  readonly databases: readonly Database[];
  readonly inputHash: Sha256Hash;
} {
  const { verdict, referenceDatabase, inputHash } = claims;
  const isResult = verdict === 'match' || verdict === 'no-match';
  if (kind !== 'screening' || !isResult || referenceDatabase === undefined || inputHash === undefined) {
    throw new RepeatError('no-screening', 'the record is not of a name held against lists');
  }
  return { recorded: verdict, databases: referenceDatabase, inputHash };
}

async function editionOf(lists: RepeatSources['lists'], { id, sha256 }: Database): Promise<Edition> {
  const edition =
    isListId(id) && sha256 !== undefined && isSha256Hash(sha256) ? await lists.edition(id, sha256) : undefined;
  if (edition === undefined) {
    throw new RepeatError('edition-gone', `the edition ${sha256 ?? '(unnamed)'} of ${id} is not kept here`);
  }
  return edition;
}
