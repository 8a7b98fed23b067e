import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import Type, { type Static } from 'typebox';
import type { RecordId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { CountShape, RecordIdShape } from '../../protocol/shapes.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { bytesCodec, jsonTable } from '../store/table.ts';
import { IntakeError } from './intake-error.ts';
import { type KeyedSecret, KeyedSecrets } from './keyed-secrets.ts';

const HOUR_MS = 3_600_000;
/** How long an idempotency key answers for the request that it came with. In milliseconds. */
export const IDEMPOTENCY_MS = 24 * HOUR_MS;
/** How often the rows that are over are removed. In milliseconds. */
const SWEEP_MS = HOUR_MS;
/** Rows that are looked at together. */
const SWEPT_TOGETHER = 256;

const IdempotencyRowShape = Type.Object(
  {
    id: RecordIdShape,
    /** Keyed digest of the request; in rows of the release before, its hash. */
    request: Type.String(),
    at: CountShape,
    sealed: Type.Optional(Type.String()),
    /** In rows of the release before alone. */
    kept: Type.Optional(Type.Unsafe<JsonObject>(Type.Object({}))),
  },
  { additionalProperties: false },
);
type IdempotencyRow = Static<typeof IdempotencyRowShape>;

/** (account, hash of the caller's key) → the record and the request that it was first used for. For a day. */
export const idempotencyTable = jsonTable('idempotency', IdempotencyRowShape);
const rawTable = idempotencyTable.by(bytesCodec);

/** A request that comes with an `Idempotency-Key`. */
export interface KeyedRequest {
  /** The caller's key itself, which is stored nowhere. */
  readonly key: string;
  /** Hash of key, path and body. */
  readonly request: string;
}

/** What a draft leaves for a request that may come again. */
export interface IdempotencyMark {
  /** Hash of the caller's key. */
  readonly key: string;
  /** Keyed digest of the request. */
  readonly request: string;
  /** What the answer says beside the record's own text, sealed; absent where it says nothing. */
  readonly sealed?: string;
}

/** Makes the mark of the request under way. */
export type MarkOf = (kept?: JsonObject) => IdempotencyMark;

/** The record that a request made when it first came, and what its answer said beside it. */
export interface Replay {
  readonly id: RecordId;
  readonly kept: JsonObject;
}

/** The row that a later request of the same key meets. It belongs into the record's own write. */
export function idempotencyOperation(
  account: string,
  { key, request, sealed }: IdempotencyMark,
  id: RecordId,
  at: number,
): Operation {
  return idempotencyTable.put([account, key], { id, request, at, ...(sealed === undefined ? {} : { sealed }) });
}

export interface IdempotencyOptions {
  readonly store: Store;
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  readonly now: () => number;
  /** Whether the clock is known to be right: no row is over by another. */
  readonly isClockRight: () => boolean;
  readonly log: Pick<Logger, 'warn'>;
}

/** Lets the requests of one idempotency key through one after another, and only the first of them to its work. */
export class Idempotency implements AsyncDisposable {
  readonly #options: IdempotencyOptions;
  readonly #secrets: KeyedSecrets;
  readonly #locks = new KeyedLock();
  readonly #sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.#secrets = new KeyedSecrets(options.payloadKey);
  }

  /** Begins to remove the rows that are over. */
  start(): void {
    this.#sweeps.start();
  }

  /** Removes the rows that are over now, by a clock that is right. Never rejects. */
  sweep(): Promise<void> {
    return this.#sweeps.now();
  }

  /**
   * The result of `work`, or what its first run left behind. A duplicate that comes while the first is under way waits
   * for its fate. Throws `IntakeError` `idempotency-conflict` where the key came with another request.
   */
  run<Result>(
    account: string,
    { key, request }: KeyedRequest,
    work: (mark: MarkOf) => Promise<Result>,
  ): Promise<Result | { readonly replay: Replay }> {
    const hashed = hash('sha256', key, 'hex');
    return this.#locks.exclusive(idempotencyTable.key(account, hashed), async () => {
      const secret = this.#secrets.of(account, key);
      const digest = secret.digest(request);
      const used = await idempotencyTable.get(this.#options.store, account, hashed);
      if (used === undefined || (this.#options.isClockRight() && this.#isOver(used))) {
        return work((kept = {}) => ({ key: hashed, request: digest, ...sealedOf(secret, kept) }));
      }
      // The release before wrote the hash itself.
      if (used.request === digest || used.request === request) return { replay: replayOf(secret, used) };
      throw new IntakeError('idempotency-conflict', 'the idempotency key was used with another request');
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeps[Symbol.asyncDispose]();
  }

  async #sweep(): Promise<void> {
    const { store, isClockRight, log } = this.#options;
    const slices = new TimeSlices();
    try {
      let after: string | undefined;
      while (!this.#sweeps.signal.aborted) {
        const range = { limit: SWEPT_TOGETHER, ...(after === undefined ? {} : { after }) };
        const rows = await Array.fromAsync(rawTable.under(store, [], range));
        after = rows.at(-1)?.[0].join('/');
        if (after === undefined || !isClockRight()) return;
        const over = rows.filter(([, bytes]) => this.#isOverIn(bytes));
        await Promise.all(over.map(([parts]) => this.#remove(parts)));
        if (slices.isOver) await slices.rest();
      }
    } catch (error) {
      log.warn({ err: error }, 'idempotency keys that are over were not removed; trying again');
    }
  }

  /** No request of the key is under way meanwhile: one may write the row anew. */
  #remove(parts: readonly string[]): Promise<void> {
    const { store } = this.#options;
    return this.#locks.exclusive(rawTable.key(...parts), async () => {
      const bytes = await rawTable.get(store, ...parts);
      if (bytes !== undefined && this.#isOverIn(bytes)) await store.write([rawTable.del(...parts)]);
    });
  }

  #isOver({ at }: IdempotencyRow): boolean {
    return this.#options.now() - at >= IDEMPOTENCY_MS;
  }

  /** Of a row that does not read it is not known; `fsck` names it. */
  #isOverIn(bytes: Uint8Array): boolean {
    try {
      return this.#isOver(idempotencyTable.decode(bytes));
    } catch {
      return false;
    }
  }
}

function sealedOf(secret: KeyedSecret, kept: JsonObject): Pick<IdempotencyMark, 'sealed'> {
  return Object.keys(kept).length === 0 ? {} : { sealed: secret.seal(kept) };
}

function replayOf(secret: KeyedSecret, { id, kept = {}, sealed }: IdempotencyRow): Replay {
  return { id, kept: sealed === undefined ? kept : secret.open(sealed) };
}
