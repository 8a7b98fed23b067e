import { hash } from 'node:crypto';
import type { RecordId } from '../../protocol/ids.ts';
import { isJsonObject } from '../../protocol/json/value.ts';
import { parseText } from '../../protocol/json/text.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { duplicateTable } from '../intake/once-guard.ts';
import { eraseKeys, type ErasedKey } from '../records/payload/payload-keys.ts';
import { readPayload } from '../records/payload/payload-tables.ts';
import { PayloadDamagedError, type PayloadCipher } from '../records/payload/payload-cipher.ts';
import { readRecord } from '../records/record-reader.ts';
import type { DuePurges } from '../store/due-purges.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import type { Subjects } from './subjects.ts';

export interface PayloadTracesOptions {
  readonly store: Store;
  readonly cipher: PayloadCipher;
  readonly subjects: Pick<Subjects, 'removal'>;
  readonly purges: Pick<DuePurges, 'due' | 'noteEnded'>;
}

/** All by which a payload could be read, found or guessed: its key, the row of its person, the hash that refuses a twin. */
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
   * keys that were destroyed since. They are purged from its files like those of any erasure.
   */
  async removalsAgain(records: readonly AttestationRecord[]): Promise<Operation[]> {
    const erased = records.flatMap(({ links }) => links.erased ?? []);
    if (erased.length === 0) return [];
    const { store, purges } = this.#options;
    const found = await Promise.all(erased.map((id) => readRecord(store, id)));
    const operations = await this.#keyRemovals(erased.map((id, i) => ({ id, seq: found[i]?.record.seq ?? null })));
    for (const written of found) {
      if (written !== undefined) operations.push(...(await this.#removalsByContent(written.record)));
    }
    purges.noteEnded();
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
      operations.push(duplicateTable.del(account, duplicateKey));
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
