import { recordId } from '../../protocol/ids.ts';
import type { Operation, Store } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { PreparedDraft } from './draft.ts';
import { IntakeError } from './intake-error.ts';

/** (account, key) → id of the record that a second identical request is pointed to. */
export const duplicateTable = new Table('duplicate', textCodec);

/** Refuses a request that was recorded before. A twin that arrives while the first is under way waits for its fate. */
export class DuplicateGuard {
  readonly #store: Store;
  readonly #running = new Map<string, Promise<void>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Runs `record` for drafts that were not recorded before. Throws `IntakeError` `duplicate` with the first id. */
  async guard<Result>(prepared: readonly PreparedDraft[], record: () => Promise<Result>): Promise<Result> {
    const guarded = prepared.filter(({ draft }) => draft.duplicateKey !== undefined);
    if (guarded.length === 0) return record();
    const keys = guarded.map(({ draft }) => duplicateTable.key(draft.account, draft.duplicateKey ?? ''));
    for (let twin = this.#twinOf(keys); twin !== undefined; twin = this.#twinOf(keys)) await twin;
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const key of keys) this.#running.set(key, promise);
    try {
      for (const { draft } of guarded) await this.#refuseExisting(draft.account, draft.duplicateKey ?? '');
      return await record();
    } finally {
      for (const key of keys) this.#running.delete(key);
      resolve();
    }
  }

  #twinOf(keys: readonly string[]): Promise<void> | undefined {
    return keys.map((key) => this.#running.get(key)).find((running) => running !== undefined);
  }

  async #refuseExisting(account: string, duplicateKey: string): Promise<void> {
    const existing = await duplicateTable.get(this.#store, account, duplicateKey);
    if (existing === undefined) return;
    throw new IntakeError('duplicate', 'the same request was recorded before', undefined, recordId(existing));
  }

  /** The rows that make later requests duplicates: part of the group's own atomic write. */
  static operations(prepared: readonly PreparedDraft[]): Operation[] {
    return prepared.flatMap(({ draft, id }) =>
      draft.duplicateKey === undefined ? [] : [duplicateTable.put([draft.account, draft.duplicateKey], id)],
    );
  }
}
