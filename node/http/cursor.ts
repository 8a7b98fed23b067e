import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { fieldError, Problem } from './problem.ts';

/** Characters of a cursor at most: longer ones are none of ours. */
const MAX_CURSOR_CHARACTERS = 1024;

/** Where the next page starts, as text that callers hand back and do not read. */
export function writeCursor(parts: readonly (string | number)[]): string {
  return encodeBase64url(utf8(JSON.stringify(parts)));
}

/** The parts of a cursor. Throws `Problem` 400 where it is none of `length` parts. */
export function readCursor(text: string, length: number): readonly (string | number)[] {
  try {
    if (text.length > MAX_CURSOR_CHARACTERS) throw new RangeError('too long');
    const value: unknown = JSON.parse(decodeUtf8(decodeBase64url(text)));
    if (Array.isArray(value) && value.length === length && value.every(isPart)) return value;
    throw new RangeError('another shape');
  } catch {
    const message = 'is no cursor of this list';
    throw new Problem('invalid-field', `cursor ${message}`, { errors: [fieldError(['cursor'], 'cursor', message)] });
  }
}

function isPart(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}
