import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Account } from './account.ts';
import type { Scope } from './scopes.ts';

/** Who makes a request: an account, by one of its keys. */
export interface Caller {
  readonly account: Account;
  readonly key: CallerKey;
}

export interface CallerKey {
  /** `key_eu_01J…`; says nothing about the key itself. */
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The only sources that the key may write and read; null: all of the account's. */
  readonly sources: readonly string[] | null;
}

/** Whether a key reaches a source of its account. */
export function reaches(key: CallerKey, sourceId: string): boolean {
  return key.sources === null || key.sources.includes(sourceId);
}

/** Whether a caller may refer to a record: it is of the account, and of a source that the key reaches. */
export function mayName({ account, key }: Caller, record: Pick<AttestationRecord, 'account' | 'sourceId'>): boolean {
  return record.account === account.id && reaches(key, record.sourceId);
}
