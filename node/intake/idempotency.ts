import Type from 'typebox';
import type { RecordId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { CountShape, RecordIdShape } from '../../protocol/shapes.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import { IntakeError } from './intake-error.ts';

/** How long an idempotency key answers for the request that it came with. In milliseconds. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

const IdempotencyRowShape = Type.Object(
  {
    id: RecordIdShape,
    request: Type.String(),
    at: CountShape,
    kept: Type.Optional(Type.Unsafe<JsonObject>(Type.Object({}))),
  },
  { additionalProperties: false },
);

/** (account, hash of the caller's key) → the record and the request that it was first used for. */
export const idempotencyTable = jsonTable('idempotency', IdempotencyRowShape);

/** What a caller's `Idempotency-Key` stands for: hashes of the key and of the request that it came with. */
export interface IdempotentRequest {
  readonly key: string;
  readonly request: string;
  /** What the answer says beside the record's own text. */
  readonly kept?: JsonObject;
}

/** The record that a request made when it first came, and what its answer said beside it. */
export interface Replay {
  readonly id: RecordId;
  readonly kept: JsonObject;
}

/** The row that a later request of the same key meets. It belongs into the record's own write. */
export function idempotencyOperation(
  account: string,
  { key, request, kept }: IdempotentRequest,
  id: RecordId,
  at: number,
): Operation {
  return idempotencyTable.put([account, key], { id, request, at, ...(kept === undefined ? {} : { kept }) });
}

/** Lets the requests of one idempotency key through one after another, and only the first of them to its work. */
export class Idempotency {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #locks = new KeyedLock();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * The result of `work`, or what its first run left behind. A duplicate that comes while the first is under way waits
   * for its fate. Throws `IntakeError` `idempotency-conflict` where the key came with another request.
   */
  run<Result>(
    account: string,
    { key, request }: IdempotentRequest,
    work: () => Promise<Result>,
  ): Promise<Result | { readonly replay: Replay }> {
    return this.#locks.exclusive(idempotencyTable.key(account, key), async () => {
      const used = await idempotencyTable.get(this.#store, account, key);
      if (used === undefined || this.#now() - used.at >= IDEMPOTENCY_MS) return work();
      if (used.request === request) return { replay: { id: used.id, kept: used.kept ?? {} } };
      throw new IntakeError('idempotency-conflict', 'the idempotency key was used with another request');
    });
  }
}
