import { hash } from 'node:crypto';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { GOVERNANCE_KINDS, type RecordKind } from '../../protocol/statement/vocabulary.ts';
import type { Projection } from '../records/projection.ts';
import { Table, textCodec } from '../store/table.ts';

/** Kinds of records that reports look at one by one: few, and each of weight. */
export const INDEXED_KINDS = [
  'incident',
  'retention_lock',
  'risk_assessment',
  'impact_assessment',
  'corrective_action',
  ...GOVERNANCE_KINDS,
] as const satisfies readonly RecordKind[];
export type IndexedKind = (typeof INDEXED_KINDS)[number];

const INDEXED: ReadonlySet<string> = new Set(INDEXED_KINDS);

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
    rowsOf: ({ account, kind, seq, id }) => (INDEXED.has(kind) ? [governanceTable.put([account, kind, seq], id)] : []),
  },
  { table: systemTable, rowsOf: systemRows },
];

function systemRows({ account, kind, seq, id, claims }: AttestationRecord) {
  const { systemRef } = claims.asserted ?? {};
  return kind === 'system' && systemRef !== undefined
    ? [systemTable.put([account, systemKey(systemRef), seq], id)]
    : [];
}
