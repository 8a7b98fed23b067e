import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { recordId } from '../../protocol/ids.ts';
import { CountShape, RecordIdShape } from '../../protocol/shapes.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table, textCodec } from '../store/table.ts';
import type { Draft, PreparedDraft } from './draft.ts';
import { IntakeError } from './intake-error.ts';

/** How long an idempotency key answers for the request that it came with. In milliseconds. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

const IdempotencyRowShape = Type.Object(
  { id: RecordIdShape, request: Type.String(), at: CountShape },
  { additionalProperties: false },
);
type IdempotencyRow = Static<typeof IdempotencyRowShape>;
const compiled = Compile(IdempotencyRowShape);

/** (account, key) → id of the record that a second identical request is pointed to. */
export const duplicateTable = new Table('duplicate', textCodec);
/** (account, hash of the caller's key) → the record and the request that it was first used for. */
export const idempotencyTable = new Table(
  'idempotency',
  jsonCodec((value: unknown): value is IdempotencyRow => compiled.Check(value)),
);

/**
 * Lets a request that must count once through once. A twin that arrives while the first is under way waits for its fate.
 * The rows land in the record's own atomic write, so they hold exactly when the record does.
 */
export class OnceGuard {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #running = new Map<string, Promise<void>>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Runs `record` for drafts that were not recorded before. Throws `IntakeError`: `replayed` (same idempotency key and
   * request) and `duplicate` name the first record; `idempotency-conflict` (same key, other request).
   */
  async guard<Result>(prepared: readonly PreparedDraft[], record: () => Promise<Result>): Promise<Result> {
    const keys = prepared.flatMap(({ draft }) => rowKeys(draft));
    if (keys.length === 0) return record();
    for (let twin = this.#twinOf(keys); twin !== undefined; twin = this.#twinOf(keys)) await twin;
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const key of keys) this.#running.set(key, promise);
    try {
      for (const { draft } of prepared) await this.#refuseSecond(draft);
      return await record();
    } finally {
      for (const key of keys) this.#running.delete(key);
      resolve();
    }
  }

  /** The rows that later requests meet. */
  operations(prepared: readonly PreparedDraft[]): Operation[] {
    return prepared.flatMap(({ draft, id }) => {
      const { account, duplicateKey, idempotency } = draft;
      const rows: Operation[] = [];
      if (duplicateKey !== undefined) rows.push(duplicateTable.put([account, duplicateKey], id));
      if (idempotency !== undefined) {
        const { key, request } = idempotency;
        rows.push(idempotencyTable.put([account, key], { id, request, at: this.#now() }));
      }
      return rows;
    });
  }

  #twinOf(keys: readonly string[]): Promise<void> | undefined {
    return keys.map((key) => this.#running.get(key)).find((running) => running !== undefined);
  }

  async #refuseSecond({ account, duplicateKey, idempotency }: Draft): Promise<void> {
    const used = idempotency && (await idempotencyTable.get(this.#store, account, idempotency.key));
    if (used !== undefined && this.#now() - used.at < IDEMPOTENCY_MS) {
      const isSame = used.request === idempotency?.request;
      if (isSame) throw new IntakeError('replayed', 'recorded before', undefined, used.id);
      throw new IntakeError('idempotency-conflict', 'the idempotency key was used with another request');
    }
    const existing =
      duplicateKey === undefined ? undefined : await duplicateTable.get(this.#store, account, duplicateKey);
    if (existing === undefined) return;
    throw new IntakeError('duplicate', 'the same request was recorded before', undefined, recordId(existing));
  }
}

function rowKeys({ account, duplicateKey, idempotency }: Draft): string[] {
  const keys: string[] = [];
  if (duplicateKey !== undefined) keys.push(duplicateTable.key(account, duplicateKey));
  if (idempotency !== undefined) keys.push(idempotencyTable.key(account, idempotency.key));
  return keys;
}
