import type { RecordId } from '../../protocol/ids.ts';
import type { AccountVersions, DecidedVersion } from './account-versions.ts';

/** Versions of an account's statement that one answer rests on at most. Records that others decide of are left out. */
const MAX_VERSIONS = 16;

/** The version that decides of all records from the place after its own up to another. */
interface Span {
  readonly version: DecidedVersion | undefined;
  /** Infinity: also of records that are not decided. */
  readonly upTo: number;
}

/** Places in the log from the last to the first; what has none yet is younger than all. */
export function youngestFirst(places: readonly (number | null)[]): readonly (number | null)[] {
  return places.toSorted((a, b) => (b ?? Infinity) - (a ?? Infinity));
}

/** Versions that say which nodes speak, for records at some places in the log. */
export class DecidingVersions {
  readonly #spans: Span[] = [];

  /**
   * Finds those of these places, null where there is none; the first places come first. In the order of the log, the
   * youngest first, each version is looked for once.
   */
  static async find(
    versions: Pick<AccountVersions, 'newestBefore'>,
    account: string,
    places: readonly (number | null)[],
  ): Promise<DecidingVersions> {
    const found = new DecidingVersions();
    for (const place of places) {
      if (found.covers(place)) continue;
      if (found.#spans.length >= MAX_VERSIONS) break;
      found.#spans.push({ version: await versions.newestBefore(account, place), upTo: place ?? Infinity });
    }
    return found;
  }

  get versions(): readonly DecidedVersion[] {
    return this.#spans.flatMap(({ version }) => version ?? []);
  }

  /**
   * Whether it is known which version decides of a record at that place, or that there is none. `without`: not at hand.
   */
  covers(place: number | null, without: ReadonlySet<RecordId> = new Set()): boolean {
    return this.#spans.some(({ version, upTo }) => {
      const isAtHand = version === undefined || !without.has(version.id);
      return isAtHand && (place ?? Infinity) <= upTo && (version === undefined || (place ?? Infinity) > version.index);
    });
  }
}
