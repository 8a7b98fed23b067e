import type { Suite } from '../suite/suite.ts';
import {
  type AttestationRecord,
  readBody,
  readHead,
  type RecordBody,
  type RecordHead,
  type WholeTexts,
} from './record.ts';

/**
 * The two texts of a record that was read, which bring what they say: anyone who judges them needs not read them again.
 */
export class ReadTexts implements WholeTexts {
  readonly head: string;
  readonly body: string;
  readonly #head: RecordHead;
  readonly #body: RecordBody;

  /** Throws what `openRecord` throws. */
  constructor(suite: Pick<Suite, 'sha256Hex'>, { head, body }: WholeTexts) {
    this.head = head;
    this.body = body;
    this.#head = readHead(head);
    this.#body = readBody(suite, this.#head, body);
  }

  /** What the head says. */
  get headRead(): RecordHead {
    return this.#head;
  }

  /** What the body says. */
  get bodyRead(): RecordBody {
    return this.#body;
  }

  get record(): AttestationRecord {
    return { ...this.#head, ...this.#body };
  }
}
