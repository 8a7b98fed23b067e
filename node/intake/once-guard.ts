import { recordId } from '../../protocol/ids.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { Draft, PreparedDraft } from './draft.ts';
import { IntakeError } from './intake-error.ts';

/** What tells that a draft may be recorded once alone. */
type OnceDraft = Pick<Draft, 'account' | 'duplicateKey'>;

/** (account, key) → id of the record that a second identical request is pointed to. */
export const duplicateTable = new Table('duplicate', textCodec);

/** Digits of a key, in hex, that may stay in the files when its row ends: few, for a payload is guessed by the rest. */
const KEPT_DIGITS = 2;
/** Sorts behind every digit. */
const LAST = '~';

/** The end of a row that has ended for good. */
interface DuplicateRemoval {
  readonly operation: Operation;
  /**
   * To be purged, so that the row's own key leaves the files: neighbours on both sides, as every key that is purged
   * is named in LevelDB's own log and manifest, and by its purge in the store until that is over.
   */
  readonly purged: readonly string[];
}

export function duplicateRemoval(account: string, key: string): DuplicateRemoval {
  const kept = key.slice(0, KEPT_DIGITS);
  const purged = [duplicateTable.key(account, kept), duplicateTable.key(account, kept + LAST)];
  return { operation: duplicateTable.del(account, key), purged };
}

/**
 * Lets a request that must count once through once. A duplicate that arrives while the first is under way waits for its
 * fate. The rows land in the record's own atomic write, so they hold exactly when the record does.
 */
export class OnceGuard {
  readonly #store: Store;
  readonly #locks = new KeyedLock();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Runs `record` for drafts that were not recorded before. Throws `IntakeError` `duplicate`, which names the first
   * record; also where two of the drafts are duplicates.
   */
  async guard<Result>(drafts: readonly OnceDraft[], record: () => Promise<Result>): Promise<Result> {
    const keys = drafts.flatMap((draft) => rowKey(draft) ?? []);
    if (keys.length === 0) return record();
    if (new Set(keys).size < keys.length) throw new IntakeError('duplicate', 'two of the records are the same');
    return this.#locks.exclusiveOfAll(keys, async () => {
      for (const draft of drafts) await this.#refuseSecond(draft);
      return record();
    });
  }

  /** The rows that later requests meet. */
  operations(prepared: readonly PreparedDraft[]): Operation[] {
    return prepared.flatMap(({ draft: { account, duplicateKey }, id }) =>
      duplicateKey === undefined ? [] : [duplicateTable.put([account, duplicateKey], id)],
    );
  }

  async #refuseSecond({ account, duplicateKey }: OnceDraft): Promise<void> {
    if (duplicateKey === undefined) return;
    const existing = await duplicateTable.get(this.#store, account, duplicateKey);
    if (existing === undefined) return;
    throw new IntakeError('duplicate', 'the same request was recorded before', undefined, recordId(existing));
  }
}

function rowKey({ account, duplicateKey }: OnceDraft): string | undefined {
  return duplicateKey === undefined ? undefined : duplicateTable.key(account, duplicateKey);
}
