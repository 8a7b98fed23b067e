/**
 * `torn-tail`: the last log ends inside a record, as a crash in the middle of a write leaves it.
 * `unreferenced`: a file that the database does not use. Every other code is damage.
 */
export type FindingCode =
  | 'current-malformed'
  | 'missing-file'
  | 'unreadable-file'
  | 'torn-tail'
  | 'record-checksum'
  | 'record-length'
  | 'record-type'
  | 'record-order'
  | 'record-padding'
  | 'edit-malformed'
  | 'manifest-incomplete'
  | 'comparator-unknown'
  | 'table-size'
  | 'table-footer'
  | 'table-layout'
  | 'block-checksum'
  | 'block-malformed'
  | 'unreferenced';

/** A `problem` is damage, a `warning` what a crash may leave, a `note` harmless. */
export type FindingSeverity = 'problem' | 'warning' | 'note';

export interface FileFinding {
  readonly severity: FindingSeverity;
  readonly code: FindingCode;
  /** Name of the file inside the database's folder. */
  readonly file: string;
  /** Byte of the file where it was seen, or null where it concerns the file as a whole. */
  readonly offset: number | null;
  readonly detail: string;
}

const SEVERITIES: Partial<Record<FindingCode, FindingSeverity>> = { 'torn-tail': 'warning', unreferenced: 'note' };

export function finding(code: FindingCode, file: string, offset: number | null, detail: string): FileFinding {
  return { severity: SEVERITIES[code] ?? 'problem', code, file, offset, detail };
}
