import Type from 'typebox';
import { PSEUDONYM_PATTERN } from '../../protocol/chain/asserted.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { countedScopes, lockEnd, periodOf } from '../../protocol/compliance/retention.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { LinksTo } from '../records/link-tables.ts';
import type { Projection } from '../records/projection.ts';
import { sourceKey } from '../records/sources/sources.ts';
import { jsonTable, numberCodec, Table, textCodec } from '../store/table.ts';
import type { Move } from './row-counter.ts';

/** Who placed a legal hold: a person, under a pseudonym, and in `keyId` the API key, or who had signed in by mail. */
const HoldRowShape = Type.Object(
  { lockedBy: Type.String({ pattern: PSEUDONYM_PATTERN }), keyId: Type.String() },
  { additionalProperties: false },
);

/** (lock) → who placed its legal hold, for as long as it holds: the release needs a second person. */
export const holdTable = jsonTable('hold', HoldRowShape);

/** (account, source key, seq) → retention lock. */
export const lockTable = new Table('lock', textCodec);
/**
 * (account, source key, scope, end over what was there before in epoch milliseconds, seq) → lock. The last ends last.
 * In this table and the next two the scopes are those that a lock is counted under (`countedScopes`).
 */
export const lockEndTable = new Table('lock-end', textCodec);
/** (account, source key, scope, days, seq) → lock. The last has the longest period. */
export const lockDaysTable = new Table('lock-days', textCodec);
/** (account, source key, scope) → legal holds that nobody has released. No row: none. */
export const holdCountTable = new Table('hold-count', numberCodec);

/** A lock, and not the release of its legal hold. */
export function isLock({ kind, links }: AttestationRecord): boolean {
  return kind === 'retention_lock' && links.lock === undefined;
}

/** The records by which a legal hold is released. The node that placed a lock releases it: no other has a say. */
export function releasesOf(lock: RecordId): LinksTo {
  return { target: lock, name: 'lock', kind: 'retention_lock' };
}

export const LOCK_PROJECTIONS: readonly Projection[] = [
  {
    table: lockTable,
    rowsOf: (record) =>
      isLock(record) ? [lockTable.put([record.account, sourceKey(record.sourceId), record.seq], record.id)] : [],
  },
  { table: lockEndTable, rowsOf: (record) => perScope(record, lockEndTable, (lock) => lockEnd(periodOf(lock))) },
  {
    table: lockDaysTable,
    rowsOf: (record) => perScope(record, lockDaysTable, (lock) => lock.claims.retentionDays ?? 0),
  },
];

export function holdMoves(record: AttestationRecord): readonly Move[] {
  const { kind, account, sourceId, claims, links } = record;
  const by = links.lock === undefined ? Number(claims.legalHold ?? false) : -1;
  if (kind !== 'retention_lock' || by === 0) return [];
  return countedScopes(claims.scope ?? []).map((scope) => ({ parts: [account, sourceKey(sourceId), scope], by }));
}

function perScope(record: AttestationRecord, table: Table<string>, valueOf: (lock: AttestationRecord) => number) {
  if (!isLock(record)) return [];
  const { account, sourceId, claims, seq, id } = record;
  const value = valueOf(record);
  return countedScopes(claims.scope ?? []).map((scope) =>
    table.put([account, sourceKey(sourceId), scope, value, seq], id),
  );
}
