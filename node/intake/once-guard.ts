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
