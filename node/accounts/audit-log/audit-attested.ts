import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Operation } from '../../store/operation.ts';
import { Table, textCodec } from '../../store/table.ts';
import type { Projection } from '../../records/projection.ts';

/** (account, day) → id of the record that attests the day's head. Follows from that record alone. */
export const auditAttestedTable = new Table('audit-attested', textCodec);

export const auditHeadProjection: Projection = { table: auditAttestedTable, rowsOf: attestedRows };

function attestedRows({ id, kind, account, claims: { keyEvent, auditDay } }: AttestationRecord): Operation[] {
  if (kind !== 'key_event' || keyEvent !== 'audit-head' || auditDay === undefined) return [];
  return [auditAttestedTable.put([account, auditDay], id)];
}
