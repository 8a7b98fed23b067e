import type { AttestationRecord } from '../chain/record.ts';
import type { RecordId } from '../ids.ts';
import { homeOf } from './account-id.ts';

/** A record, and the place of its decision in the federation's log; null where none is shown. */
export interface PlacedRecord {
  readonly record: AttestationRecord;
  readonly index: number | null;
}

/** A version of an account's statement, and the record that it is. */
export interface AccountVersion {
  readonly version: number;
  readonly id: RecordId;
}

/** Whether a record's node speaks for the record's account, and the version that says so. */
export interface Standing {
  readonly speaks: boolean;
  /** Null where none is needed, since the node is the account's home, or where none was decided before the record. */
  readonly statement: AccountVersion | null;
}

export const SILENT: Standing = { speaks: false, statement: null };
const AT_HOME: Standing = { speaks: true, statement: null };

type Author = Pick<AttestationRecord, 'account' | 'node'>;

/** Whether the account's own home made the record. */
export function isMadeAtHome({ account, node }: Author): boolean {
  return homeOf(account) === node;
}

/** Whether the record's account has another home than the node that made the record. */
export function isMadeElsewhere({ account, node }: Author): boolean {
  const home = homeOf(account);
  return home !== undefined && home !== node;
}

/** Whether a record is a version of its account's statement: those of the home alone are. */
export function isAccountVersion(record: AttestationRecord): boolean {
  const { nodes, version } = record.claims;
  return record.kind === 'account' && nodes !== undefined && version !== undefined && isMadeAtHome(record);
}

/**
 * Whether the node of a record speaks for the record's account (protocol §5): its home always does, any other where the
 * newest version of the account's statement that was decided before the record names it. A record whose decision is not
 * shown comes after every version, and a version whose decision is not shown says nothing. `versions`: records that
 * hold, of whatever kind and account.
 */
export function standingOf({ record, index }: PlacedRecord, versions: readonly PlacedRecord[]): Standing {
  if (isMadeAtHome(record)) return AT_HOME;
  const before = versions.filter((one) => {
    const isBefore = one.index !== null && (index === null || one.index < index);
    return isBefore && one.record.account === record.account && isAccountVersion(one.record);
  });
  const newest = before.map(({ record: version }) => version).toSorted(newestFirst)[0];
  if (newest === undefined) return SILENT;
  const { nodes = [], version = 0 } = newest.claims;
  return { speaks: nodes.includes(record.node), statement: { version, id: newest.id } };
}

/** By version; of two that a home gave one number, the later record. */
function newestFirst(a: AttestationRecord, b: AttestationRecord): number {
  return (b.claims.version ?? 0) - (a.claims.version ?? 0) || b.seq - a.seq;
}
