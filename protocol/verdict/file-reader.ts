import type { Static, TSchema } from 'typebox';
import { Compile } from '../shape-check.ts';
import { parseJson } from '../json/parse.ts';
import { JsonError, type JsonValue } from '../json/value.ts';
import { shapeFault } from '../shape-fault.ts';
import { BUNDLE_MAX_DEPTH, MAX_BUNDLE_CHARACTERS } from './bundle.ts';

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The text of a file of proof (a bundle, a proof of misbehaviour, rosters, revocations) is of another shape, or too
 * long.
 */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly code: 'too-long' | 'malformed';
  /** JSON pointer of the member at fault; empty where it is the whole. */
  readonly pointer: string;

  constructor(code: FileError['code'], pointer: string, message: string) {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}

/**
 * The JSON of a file. Throws `FileError` `too-long`, and `JsonError` on what is not strict JSON, or would be read as
 * another integer than the one that is written.
 */
export function fileJson(text: string): JsonValue {
  if (text.length > MAX_BUNDLE_CHARACTERS) {
    throw new FileError('too-long', '', `a file has at most ${MAX_BUNDLE_CHARACTERS} characters`);
  }
  if (text.startsWith(BYTE_ORDER_MARK)) {
    throw new JsonError('syntax', 'it begins with a byte order mark: save it as UTF-8 without one');
  }
  return parseJson(text, { maxDepth: BUNDLE_MAX_DEPTH, exactIntegers: true });
}

/** Reads values of one shape whose JSON was read strictly. What it returns throws `FileError` `malformed`. */
export function fileReader<Shape extends TSchema>(shape: Shape): (value: JsonValue) => Static<Shape> {
  const compiled = Compile(shape);
  return (value) => {
    if (compiled.Check(value)) return value;
    const { pointer, message } = shapeFault(compiled, value);
    throw new FileError('malformed', pointer, message);
  };
}
