/**
 * `target` where it is to go there is something, or nothing can be written · `source` it cannot be copied · `no-backup` it
 * is no finished backup · `damaged` a file is not the one that was copied · `not-whole` `fsck` finds problems · `keys` key
 * files cannot go along · `format` its store is of another format.
 */
export type BackupErrorCode = 'target' | 'source' | 'no-backup' | 'damaged' | 'not-whole' | 'keys' | 'format';

/** A backup was not taken or not restored, and nothing that could be mistaken for one is left. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly code: BackupErrorCode;

  constructor(code: BackupErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
