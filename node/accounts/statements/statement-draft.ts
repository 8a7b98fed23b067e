import { ACCOUNT_SOURCE, type StatedKey, writeAccountStatement } from '../../../protocol/accounts/statement.ts';
import { HashFormatError, isSha256Hash, type Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { Draft } from '../../intake/draft.ts';
import type { Account } from '../account.ts';
import { type ApiKey, keyState } from '../api-key.ts';

/** A key and the digest that its row stands under. */
interface DigestedKey {
  readonly digest: string;
  readonly key: ApiKey;
}

export interface StatementParts {
  readonly home: NodeId;
  readonly account: Account;
  /** All keys of the account; those that have ended are left out. */
  readonly keys: readonly DigestedKey[];
  readonly version: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What intake records of a version. It counts against no limit: the node makes it, not a caller. */
export function statementDraft({ home, account, keys, version, now }: StatementParts): Omit<Draft, 'besides'> {
  const { id, tier } = account;
  const nodes = [...(account.nodes ?? [home])];
  const inForce = keys.filter(({ key }) => keyState(key, now) === 'active');
  return {
    kind: 'account',
    account: id,
    sourceId: ACCOUNT_SOURCE,
    payload: writeAccountStatement({ account: id, keys: inForce.map(statedKey), nodes, tier, version }),
    claims: { channel: 'tiered', nodes, version },
    links: {},
  };
}

function statedKey({ digest, key: { addresses, expiresAt, id, scopes, sources } }: DigestedKey): StatedKey {
  return { addresses, expiresAt, from: null, hash: hashOf(digest), id, scopes, sources, to: null };
}

function hashOf(digest: string): Sha256Hash {
  const text = `sha256:${digest}`;
  if (!isSha256Hash(text)) throw new HashFormatError('the digest of a key has 64 hex digits');
  return text;
}
