/** Why an edition was not taken, or cannot be read. */
export const LIST_ERROR_CODES = [
  /** The folder or source lacks a file that the list consists of, or one cannot be read. */
  'files-missing',
  /** A file is not what its format says, or larger than anything that a publisher gives out. */
  'malformed',
  'too-large',
  /** The files lack what whole ones of the list would have, such as the mark of an end, or entries of their rows. */
  'cut-off',
  /** The new edition has far fewer entries than the one in force. */
  'shrank',
  /** The files of the new edition bear an earlier day than those of the one in force. */
  'older',
  /** A sample would take the place of a real list. */
  'sample',
  /** The kept files of an edition are gone, or not those that were taken. */
  'damaged',
  /** The source of an update did not give its files; or there is none. */
  'download',
  'no-source',
] as const;
export type ListErrorCode = (typeof LIST_ERROR_CODES)[number];

const CODES: ReadonlySet<unknown> = new Set(LIST_ERROR_CODES);
const QUOTED_CHARACTERS = 60;

export function isListErrorCode(value: unknown): value is ListErrorCode {
  return CODES.has(value);
}

/**
 * An edition was not taken; the one in force stays. The message tells an operator why, and quotes little of the file.
 */
export class ListError extends Error {
  override readonly name = 'ListError';
  readonly code: ListErrorCode;

  constructor(code: ListErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** A piece of a file, short enough and plain enough for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text);
}
