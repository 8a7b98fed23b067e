import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

export interface DecisionLine {
  /** From 1. */
  readonly number: number;
  /** One body for `POST /v1/tiered-attest`. */
  readonly text: string;
}

/** The non-empty lines of a JSON lines file, one at a time. */
export async function* readDecisions(file: string): AsyncGenerator<DecisionLine> {
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (text.trim() !== '') yield { number, text };
  }
}
