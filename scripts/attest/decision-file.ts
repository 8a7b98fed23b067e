import { createReadStream } from 'node:fs';
import { UsageError } from '../../node/config/command-line.ts';
import { decodeUtf8 } from '../../protocol/bytes.ts';

export interface DecisionLine {
  /** From 1. */
  readonly number: number;
  /** One body for `POST /v1/tiered-attest`. */
  readonly text: string;
}

/** Of a line that is read into memory: far more than any body may have. */
const MAX_LINE_BYTES = 16 << 20;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/**
 * The non-empty lines of a JSON lines file, one at a time. `\n` and `\r\n` alone end one: a string in JSON may hold any
 * other separator. Throws `UsageError` where a line is longer than any body, or is not UTF-8: what is signed is what the
 * file says.
 */
export async function* readDecisions(file: string): AsyncGenerator<DecisionLine> {
  for await (const { number, bytes } of linesOf(file)) {
    const text = textOf(bytes, number);
    if (text.trim() !== '') yield { number, text };
  }
}

async function* linesOf(file: string): AsyncGenerator<{ readonly number: number; readonly bytes: Buffer }> {
  let number = 1;
  let begun: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(file)) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a file is read as bytes');
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield { number, bytes: withoutReturn(Buffer.concat([...begun, chunk.subarray(start, end)])) };
      number++;
      [begun, length, start] = [[], 0, end + 1];
    }
    const rest = chunk.subarray(start);
    begun.push(rest);
    length += rest.length;
    if (length > MAX_LINE_BYTES) throw new UsageError(`line ${number} is longer than ${MAX_LINE_BYTES} bytes`);
  }
  if (length > 0) yield { number, bytes: Buffer.concat(begun) };
}

function textOf(bytes: Buffer, number: number): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    throw new UsageError(`line ${number} is not UTF-8, so nothing is sent`);
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}
