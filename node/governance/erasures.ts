import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { coveredAs } from '../../protocol/compliance/retention.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { parseText } from '../../protocol/json/text.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { isIdOf, recordOfAnyId } from '../../protocol/object-ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import { duplicateRemoval, duplicateTable } from '../intake/once-guard.ts';
import { type PayloadCipher, PayloadDamagedError } from '../records/payload/payload-cipher.ts';
import { type ErasedKey, eraseKeys, readSeeds } from '../records/payload/payload-keys.ts';
import { readPayload } from '../records/payload/payload-tables.ts';
import { readOwnRecord, readRecord } from '../records/record-reader.ts';
import type { DuePurges } from '../store/due-purges.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { ComplianceError } from './compliance-error.ts';
import type { HoldsOfOthers } from './holds-elsewhere.ts';
import { blocksOf, isBlocked, type Locks, type LockState, placedElsewhere, type PlacedLock } from './locks.ts';
import type { Subjects } from './subjects.ts';

interface PayloadTracesOptions {
  readonly store: Store;
  readonly cipher: PayloadCipher;
  readonly subjects: Pick<Subjects, 'removal'>;
  readonly purges: Pick<DuePurges, 'due'>;
}

/**
 * All by which a payload could be read, found or guessed: its key, the row of its person, the hash that refuses a
 * duplicate.
 */
export class PayloadTraces {
  readonly #options: PayloadTracesOptions;

  constructor(options: PayloadTracesOptions) {
    this.#options = options;
  }

  /** What an erasure of these records deletes. It belongs into the write of the record of erasure. */
  async removals(records: readonly AttestationRecord[]): Promise<Operation[]> {
    const operations = await this.#keyRemovals(records);
    for (const record of records) operations.push(...(await this.#removalsByContent(record)));
    return operations;
  }

  /**
   * What own records of erasure delete that are taken back from peers: a store that was restored from a copy may hold
   * keys that were destroyed since. They are purged from its files like those of any erasure: call `noteEnded` of the
   * purges once this is on the disk.
   */
  async removalsAgain(records: readonly AttestationRecord[]): Promise<Operation[]> {
    const erased = records.flatMap(({ links }) => links.erased ?? []);
    if (erased.length === 0) return [];
    const { store } = this.#options;
    const found = await Promise.all(erased.map((id) => readRecord(store, id)));
    const operations = await this.#keyRemovals(erased.map((id, i) => ({ id, seq: found[i]?.record.seq ?? null })));
    for (const written of found) {
      if (written !== undefined) operations.push(...(await this.#removalsByContent(written.record)));
    }
    return operations;
  }

  async #keyRemovals(records: readonly ErasedKey[]): Promise<Operation[]> {
    const { operations, rows } = await eraseKeys(this.#options.store, records);
    return [...operations, ...this.#options.purges.due(rows)];
  }

  async #removalsByContent({ id, seq, account }: AttestationRecord): Promise<Operation[]> {
    const text = await this.#textOf(id, seq);
    if (text === undefined) return [];
    const operations: Operation[] = [];
    // The text is our own: a payload may nest deeper than a request, by the member that unknown ones are moved under.
    const payload: unknown = parseText(text);
    const subjectRef = isJsonObject(payload) ? payload.subjectRef : undefined;
    if (typeof subjectRef === 'string') operations.push(this.#options.subjects.removal(account, subjectRef, id));
    const duplicateKey = hash('sha256', text, 'hex');
    if ((await duplicateTable.get(this.#options.store, account, duplicateKey)) === id) {
      const { operation, purged } = duplicateRemoval(account, duplicateKey);
      operations.push(operation, ...this.#options.purges.due(purged));
    }
    return operations;
  }

  /** Undefined where nobody can read the payload any more. */
  async #textOf(id: RecordId, seq: number): Promise<string | undefined> {
    try {
      const payload = await readPayload(this.#options.store, this.#options.cipher, id, seq);
      return payload === 'erased' ? undefined : payload.text;
    } catch (error) {
      if (error instanceof PayloadDamagedError) return undefined;
      throw error;
    }
  }
}

/** Records of one person that one request erases. */
const MAX_ERASED_OF_SUBJECT = 10_000;
/** Blocks that a refusal names, and locks of a source that are looked through for them. */
const MAX_BLOCKS_NAMED = 1_000;
const MAX_LOCKS_LOOKED_AT = 1_000;

/** What is asked to be erased. */
export type ErasureTarget = { readonly attestationIds: readonly string[] } | { readonly subjectRef: string };

/** Records to erase, and whether there are more than one request takes. */
export interface ErasureTargets {
  readonly records: readonly AttestationRecord[];
  readonly isComplete: boolean;
  /** Member of the request that names them. */
  readonly field: 'attestationIds' | 'subjectRef';
}

/** Those whose payload is there, and those whose payload is gone already. */
export interface ErasureSplit {
  readonly present: readonly AttestationRecord[];
  readonly gone: readonly AttestationRecord[];
}

/** What is in the way of an erasure. */
export interface ErasureRefusal {
  /** The records that a retention lock or legal hold covers. */
  readonly blocked: readonly AttestationRecord[];
  /** By record, each lock over it and when that runs out. */
  readonly locks: readonly JsonObject[];
  /** Whether there are more than are named. */
  readonly truncated: boolean;
}

export interface ErasuresOptions {
  readonly store: Store;
  readonly self: NodeId;
  readonly locks: Locks;
  readonly subjects: Subjects;
  readonly traces: PayloadTraces;
  readonly purges: Pick<DuePurges, 'look' | 'noteEnded'>;
  readonly log: Logger;
}

/** Erasure of payloads by the destruction of their keys. Proofs stay; retention locks and legal holds go before. */
export class Erasures {
  readonly #options: ErasuresOptions;

  constructor(options: ErasuresOptions) {
    this.#options = options;
  }

  /** The own records of the account that are meant, each once. Throws `ComplianceError` where one is not there. */
  async targets(account: string, target: ErasureTarget): Promise<ErasureTargets> {
    if ('attestationIds' in target) {
      const records = await this.#require(account, target.attestationIds);
      return { records, isComplete: true, field: 'attestationIds' };
    }
    const ids = await this.#options.subjects.idsOf(account, target.subjectRef, MAX_ERASED_OF_SUBJECT + 1);
    const records: AttestationRecord[] = [];
    for (const id of ids.slice(0, MAX_ERASED_OF_SUBJECT)) {
      const found = await readRecord(this.#options.store, id);
      if (found !== undefined) records.push(found.record);
    }
    return { records, isComplete: ids.length <= MAX_ERASED_OF_SUBJECT, field: 'subjectRef' };
  }

  /**
   * Runs the work while no lock is placed over the records and no other erasure takes them. What it has erased leaves
   * the files of the store soon, however it ends.
   */
  async alone<Result>(
    records: readonly AttestationRecord[],
    work: (split: ErasureSplit) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#options.locks.alone(records, async () => work(await this.#split(records)));
    } finally {
      this.#options.purges.noteEnded();
    }
  }

  /** Why these may not be erased at `now`, in epoch milliseconds; undefined where they may. */
  async refusal(records: readonly AttestationRecord[], now: number): Promise<ErasureRefusal | undefined> {
    const { locks } = this.#options;
    const states = new Map<string, LockState>();
    const elsewhere = new Map<string, HoldsOfOthers>();
    const blocked: AttestationRecord[] = [];
    for (const record of records) {
      const covered = coveredAs(record);
      const others = elsewhere.get(record.sourceId) ?? (await locks.elsewhere(record));
      elsewhere.set(record.sourceId, others);
      const key = JSON.stringify([record.sourceId, covered.kind, covered.event ?? null]);
      const state = states.get(key) ?? (await locks.covering(record, covered, others));
      states.set(key, state);
      if (isBlocked(state, Date.parse(record.submittedAt), now)) blocked.push(record);
    }
    return blocked.length === 0 ? undefined : this.#refusalOf(blocked, elsewhere, now);
  }

  /** What is deleted with a record of erasure that erases these. It belongs into its own write. */
  removals(records: readonly AttestationRecord[]): Promise<readonly Operation[]> {
    return this.#options.traces.removals(records);
  }

  /**
   * Resolves to true once no file of the store holds a key that was erased before, and to false where that cannot be
   * done now, as while a backup reads the store: then it is done later.
   */
  async purge(): Promise<boolean> {
    const { purges, log } = this.#options;
    try {
      // The first look may have begun before the keys were deleted; the second did not.
      await purges.look();
      await purges.look();
      return true;
    } catch (error) {
      log.warn({ err: error }, 'erased keys are not yet out of the files of the store');
      return false;
    }
  }

  async #require(account: string, texts: readonly string[]): Promise<AttestationRecord[]> {
    const { store, self } = this.#options;
    const records = new Map<RecordId, AttestationRecord>();
    const missing: string[] = [];
    for (const text of texts) {
      const record = await readOwnRecord(store, self, recordOfAnyId(text));
      if (record?.account === account && isIdOf(text, record)) records.set(record.id, record);
      else missing.push(text);
    }
    if (missing.length === 0) return [...records.values()];
    const detail = 'names records that are not there: only the node that made a record holds its payload';
    throw new ComplianceError('attestation-not-found', 'attestationIds', detail, { missing });
  }

  async #split(records: readonly AttestationRecord[]): Promise<ErasureSplit> {
    const seeds = await readSeeds(this.#options.store, records);
    return {
      present: records.filter((_, i) => seeds[i] !== undefined),
      gone: records.filter((_, i) => seeds[i] === undefined),
    };
  }

  async #refusalOf(
    blocked: readonly AttestationRecord[],
    elsewhere: ReadonlyMap<string, HoldsOfOthers>,
    now: number,
  ): Promise<ErasureRefusal> {
    const locksOf = new Map<string, readonly PlacedLock[]>();
    const locks: JsonObject[] = [];
    for (const record of blocked) {
      const placed = locksOf.get(record.sourceId) ?? [
        ...placedElsewhere(elsewhere.get(record.sourceId)),
        ...(await this.#options.locks.list(record, 0, MAX_LOCKS_LOOKED_AT)),
      ];
      locksOf.set(record.sourceId, placed);
      for (const { lockId, until } of blocksOf(placed, record, now)) {
        const expiresAt = until === null ? null : timestampOf(until);
        locks.push({ attestationId: record.id, lockId, legalHold: until === null, expiresAt });
      }
      if (locks.length >= MAX_BLOCKS_NAMED) break;
    }
    const truncated = locks.length > MAX_BLOCKS_NAMED || locks.at(-1)?.attestationId !== blocked.at(-1)?.id;
    return { blocked, locks: locks.slice(0, MAX_BLOCKS_NAMED), truncated };
  }
}
