import { hash } from 'node:crypto';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { NOT_APPLICABLE_EVENT } from '../../protocol/frameworks/event-types.ts';
import { isListed, LISTED_KINDS } from '../../protocol/frameworks/evidence-kinds.ts';
import type { Projection } from '../records/projection.ts';
import { Table, textCodec } from '../store/table.ts';

/** Records that reports look at one by one; `not_applicable`: decisions of that event. */
export const INDEXED_KINDS = [...LISTED_KINDS, 'not_applicable'] as const;
export type IndexedKind = (typeof INDEXED_KINDS)[number];

/** Under which word a record is indexed; undefined where it is not. */
export function indexedKindOf({ kind, claims }: AttestationRecord): IndexedKind | undefined {
  if (kind === 'decision') return claims.eventType === NOT_APPLICABLE_EVENT ? 'not_applicable' : undefined;
  return isListed(kind) ? kind : undefined;
}

/** (account, kind, seq) → own record of governance. The newest comes last. */
export const governanceTable = new Table('governance', textCodec);
/** (account, key of the system's name, seq) → own entry of the register of systems. The newest comes last. */
export const systemTable = new Table('system', textCodec);

/** The key of a system's name: a name may hold what a key may not. */
export function systemKey(systemRef: string): string {
  return hash('sha256', systemRef, 'hex');
}

export const GOVERNANCE_PROJECTIONS: readonly Projection[] = [
  {
    table: governanceTable,
    rowsOf(record) {
      const kind = indexedKindOf(record);
      return kind === undefined ? [] : [governanceTable.put([record.account, kind, record.seq], record.id)];
    },
  },
  { table: systemTable, rowsOf: systemRows },
];

function systemRows({ account, kind, seq, id, claims }: AttestationRecord) {
  const { systemRef } = claims.asserted ?? {};
  return kind === 'system' && systemRef !== undefined
    ? [systemTable.put([account, systemKey(systemRef), seq], id)]
    : [];
}
