import { createHmac } from 'node:crypto';

/** What a pseudonym stands for. The word keeps that of one thing from standing for another. */
type PseudonymWord = 'meridian/reviewer/1' | 'meridian/holder/1' | 'meridian/subject/1';

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

  /** Of a person whom a decision is about, in hex. */
  subject(account: string, subjectRef: string): string {
    return this.#pseudonym('meridian/subject/1', account, subjectRef);
  }

  #pseudonym(word: PseudonymWord, account: string, name: string): string {
    const secret = createHmac('sha256', this.#payloadKey).update(SECRET_WORD).update(account).digest();
    return createHmac('sha256', secret).update(word).update('\0').update(name).digest('hex');
  }
}
