import type { MailReader } from '../../protocol/api/people.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Account } from './account.ts';
import type { Scope } from './scopes.ts';

/** Who makes a request: an account, by one of its keys. */
export interface Caller {
  readonly account: Account;
  readonly key: CallerKey;
  /** The account's home, where that is another node: of the account is known what its statement says. */
  readonly home?: NodeId;
}

export interface CallerKey {
  /** `key_eu_01J…`; says nothing about the key itself. */
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The only sources that the key may write and read; null: all of the account's. */
  readonly sources: readonly string[] | null;
  /** The first and last moment of the records that it may see; null or absent: without bound. */
  readonly from?: Timestamp | null;
  readonly to?: Timestamp | null;
  /** Who signs in by mail and has the key, or made it by one of theirs; absent where nobody is known to. */
  readonly holder?: MailReader;
}

/** Who acts by a key: whoever signs in by mail, by whichever key of theirs, else whoever has this one. */
export function whoActsBy({ id, holder }: CallerKey): string {
  return holder ?? id;
}

/** Whether a key reaches a source of its account. */
export function reaches(key: CallerKey, sourceId: string): boolean {
  return key.sources === null || key.sources.includes(sourceId);
}

/** Whether a key is limited to the records of a period. */
export function hasPeriod({ from = null, to = null }: CallerKey): boolean {
  return from !== null || to !== null;
}

/** Whether a key is limited neither to sources nor to a period. */
export function isWhole(key: CallerKey): boolean {
  return key.sources === null && !hasPeriod(key);
}

/** Whether the records of a moment are among those that a key may see. */
export function covers({ from = null, to = null }: CallerKey, submittedAt: Timestamp): boolean {
  const at = Date.parse(submittedAt);
  return (from === null || at >= Date.parse(from)) && (to === null || at <= Date.parse(to));
}

/**
 * Whether a caller may refer to a record: it is of the account, of a source that the key reaches, and of its period.
 */
export function mayName(
  { account, key }: Caller,
  record: Pick<AttestationRecord, 'account' | 'sourceId' | 'submittedAt'>,
): boolean {
  return record.account === account.id && reaches(key, record.sourceId) && covers(key, record.submittedAt);
}
