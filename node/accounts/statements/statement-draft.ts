import { ACCOUNT_SOURCE, type StatedKey, writeAccountStatement } from '../../../protocol/accounts/statement.ts';
import { HashFormatError, isSha256Hash, type Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { Draft } from '../../intake/draft.ts';
import { AccountError } from '../account-error.ts';
import type { Account } from '../account.ts';
import { type ApiKey, keyState } from '../api-key.ts';
import { namesOthers } from './statement-tables.ts';

/** Longest payload of a statement, in bytes: as many keys as one may state, of a few sources each, are below it. */
const MAX_STATEMENT_BYTES = 128 << 10;

/**
 * Throws `AccountError` `too-many-keys` where an account that names other nodes would have a longer statement: each of
 * its changes is kept for good, and sent to every one of them.
 */
export function requireStatable(parts: Omit<StatementParts, 'version'>): void {
  if (!namesOthers(parts.home, parts.account.nodes)) return;
  const { payload } = statementDraft({ ...parts, version: 1 });
  if (Buffer.byteLength(payload) <= MAX_STATEMENT_BYTES) return;
  const message = `the keys of an account that names other nodes come to at most ${MAX_STATEMENT_BYTES} bytes with their sources and addresses`;
  throw new AccountError('too-many-keys', message);
}

/** A key and the digest that its row stands under. */
interface DigestedKey {
  readonly digest: string;
  readonly key: ApiKey;
}

export interface StatementParts {
  readonly home: NodeId;
  readonly account: Account;
  /** All keys of the account; those that have ended, and those of sign-ins, whose text nobody has, are left out. */
  readonly keys: readonly DigestedKey[];
  readonly version: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What intake records of a version. It counts against no limit: the node makes it, not a caller. */
export function statementDraft({ home, account, keys, version, now }: StatementParts): Omit<Draft, 'besides'> {
  const { id, tier } = account;
  const nodes = [...(account.nodes ?? [home])];
  const inForce = keys.filter(({ key }) => key.signIn !== true && keyState(key, now) === 'active');
  return {
    kind: 'account',
    account: id,
    sourceId: ACCOUNT_SOURCE,
    payload: writeAccountStatement({ account: id, keys: inForce.map(statedKey), nodes, tier, version }),
    claims: { channel: 'tiered', nodes, version },
    links: {},
  };
}

function statedKey({
  digest,
  key: { addresses, expiresAt, from = null, id, scopes, sources, to = null },
}: DigestedKey): StatedKey {
  return { addresses, expiresAt, from, hash: hashOf(digest), id, scopes, sources, to };
}

function hashOf(digest: string): Sha256Hash {
  const text = `sha256:${digest}`;
  if (!isSha256Hash(text)) throw new HashFormatError('the digest of a key has 64 hex digits');
  return text;
}
