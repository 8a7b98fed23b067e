import { hash } from 'node:crypto';
import type { RecordId } from '../../protocol/ids.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject } from '../../protocol/json/value.ts';
import type { AttestationRecord } from '../../protocol/statement/record.ts';
import { duplicateTable } from '../intake/once-guard.ts';
import { payloadKeyTable, readPayload } from '../payload/payload-tables.ts';
import { PayloadDamagedError, type PayloadVault } from '../payload/payload-vault.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { erasureDueTable } from './erasure-due.ts';
import type { Subjects } from './subjects.ts';

/** All by which a payload could be read, found or guessed: its key, the row of its person, the hash that refuses a twin. */
export class PayloadTraces {
  readonly #store: Store;
  readonly #vault: PayloadVault;
  readonly #subjects: Subjects;

  constructor(store: Store, vault: PayloadVault, subjects: Subjects) {
    this.#store = store;
    this.#vault = vault;
    this.#subjects = subjects;
  }

  /** What an erasure of these records deletes. It belongs into the write of the record of erasure. */
  async removals(records: readonly AttestationRecord[]): Promise<Operation[]> {
    const operations: Operation[] = [];
    for (const record of records) {
      operations.push(payloadKeyTable.del(record.id), ...(await this.#removalsByContent(record)));
    }
    return operations;
  }

  /**
   * What own records of erasure delete that are taken back from peers: a store that was restored from a copy may hold
   * keys that were destroyed since. They are purged from its files like those of any erasure.
   */
  async removalsAgain(records: readonly AttestationRecord[]): Promise<Operation[]> {
    const operations: Operation[] = [];
    for (const { id, links } of records) {
      const erased = links.erased ?? [];
      if (erased.length > 0) operations.push(erasureDueTable.put([id], id));
      for (const target of erased) operations.push(payloadKeyTable.del(target), ...(await this.#removalsOf(target)));
    }
    return operations;
  }

  async #removalsOf(id: RecordId): Promise<Operation[]> {
    const found = await readRecord(this.#store, id);
    return found === undefined ? [] : this.#removalsByContent(found.record);
  }

  async #removalsByContent({ id, seq, account }: AttestationRecord): Promise<Operation[]> {
    const text = await this.#textOf(id, seq);
    if (text === undefined) return [];
    const operations: Operation[] = [];
    const payload = parseJson(text);
    const subjectRef = isJsonObject(payload) ? payload.subjectRef : undefined;
    if (typeof subjectRef === 'string') operations.push(this.#subjects.removal(account, subjectRef, id));
    const duplicateKey = hash('sha256', text, 'hex');
    if ((await duplicateTable.get(this.#store, account, duplicateKey)) === id) {
      operations.push(duplicateTable.del(account, duplicateKey));
    }
    return operations;
  }

  /** Undefined where nobody can read the payload any more. */
  async #textOf(id: RecordId, seq: number): Promise<string | undefined> {
    try {
      const payload = await readPayload(this.#store, this.#vault, id, seq);
      return payload === 'erased' ? undefined : payload.text;
    } catch (error) {
      if (error instanceof PayloadDamagedError) return undefined;
      throw error;
    }
  }
}
