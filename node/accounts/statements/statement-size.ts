import { AccountError } from '../account-error.ts';
import { statementDraft, type StatementParts } from './statement-draft.ts';
import { namesOthers } from './statement-tables.ts';

/** Longest payload of a statement, in bytes: a hundred keys of a few sources each are below it. */
export const MAX_STATEMENT_BYTES = 128 << 10;

/**
 * Throws `AccountError` `too-many-keys` where an account that names other nodes would have a longer statement: each of its
 * changes is kept for good, and sent to every one of them.
 */
export function requireStatable(parts: Omit<StatementParts, 'version'>): void {
  if (!namesOthers(parts.home, parts.account.nodes)) return;
  const { payload } = statementDraft({ ...parts, version: 1 });
  if (Buffer.byteLength(payload) <= MAX_STATEMENT_BYTES) return;
  const message = `the keys of an account that names other nodes come to at most ${MAX_STATEMENT_BYTES} bytes with their sources and addresses`;
  throw new AccountError('too-many-keys', message);
}
