import { createHmac } from 'node:crypto';
import { type RecordId, recordId } from '../../protocol/ids.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';

/** What a pseudonym stands for. The word keeps that of one thing from standing for another. */
type PseudonymWord = 'meridian/reviewer/1' | 'meridian/holder/1' | 'meridian/subject/1' | 'meridian/person/1';

const SECRET_WORD = 'meridian/pseudonym/1\0';

/**
 * Tells persons of one account apart without naming them: HMAC-SHA-256 under a secret of the account, which only this
 * node can derive. The same person has another pseudonym in another account, and on another node.
 */
export class Pseudonyms {
  readonly #payloadKey: Uint8Array;

  /** `payloadKey`: 32 bytes from the node's key file. */
  constructor(payloadKey: Uint8Array) {
    this.#payloadKey = payloadKey;
  }

  /** Of a person who looked at an output again. */
  reviewer(account: string, reviewerId: string): string {
    return `hmac-sha256:${this.#pseudonym('meridian/reviewer/1', account, reviewerId)}`;
  }

  /** Of a person who placed a legal hold, or wants to release it. */
  holder(account: string, name: string): string {
    return `hmac-sha256:${this.#pseudonym('meridian/holder/1', account, name)}`;
  }

  /** Of a person who owns, approves, performs, oversees or asserts something, as it stands in `claims.asserted`. */
  person(account: string, name: string): string {
    return `hmac-sha256:${this.#pseudonym('meridian/person/1', account, name)}`;
  }

  /** Of a person whom a decision is about, as it stands in `claims.asserted`. */
  assertedSubject(account: string, subjectRef: string): string {
    return `hmac-sha256:${this.subject(account, subjectRef)}`;
  }

  /** Of a person whom a decision is about, in hex. */
  subject(account: string, subjectRef: string): string {
    return this.#pseudonym('meridian/subject/1', account, subjectRef);
  }

  #pseudonym(word: PseudonymWord, account: string, name: string): string {
    const secret = createHmac('sha256', this.#payloadKey).update(SECRET_WORD).update(account).digest();
    return createHmac('sha256', secret).update(word).update('\0').update(name).digest('hex');
  }
}

/**
 * (account, pseudonym of the person, record id) → record id. Written and deleted with the payload that names the
 * person.
 */
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
