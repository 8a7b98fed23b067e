import { type RecordId, recordId } from '../../protocol/ids.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { Pseudonyms } from './pseudonyms.ts';

/** (account, pseudonym of the person, record id) → record id. Written and deleted with the payload that names the person. */
export const subjectTable = new Table('subject', textCodec);

/** Which records a person is the subject of. Only under a pseudonym: the name itself is in the payloads alone. */
export class Subjects {
  readonly #store: Store;
  readonly #pseudonyms: Pseudonyms;

  constructor(store: Store, pseudonyms: Pseudonyms) {
    this.#store = store;
    this.#pseudonyms = pseudonyms;
  }

  /** The row by which a record is found. It belongs into the record's own write. */
  row(account: string, subjectRef: string, id: RecordId): Operation {
    return subjectTable.put([account, this.#pseudonyms.subject(account, subjectRef), id], id);
  }

  /** The row's key, for when the record's payload is erased. */
  removal(account: string, subjectRef: string, id: RecordId): Operation {
    return subjectTable.del(account, this.#pseudonyms.subject(account, subjectRef), id);
  }

  /** Records of a person whose payloads are not erased, oldest first, at most `limit`. */
  async idsOf(account: string, subjectRef: string, limit: number): Promise<RecordId[]> {
    const ids: RecordId[] = [];
    const under = [account, this.#pseudonyms.subject(account, subjectRef)];
    for await (const [, id] of subjectTable.under(this.#store, under, { limit })) ids.push(recordId(id));
    return ids;
  }
}
