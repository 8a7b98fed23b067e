import type { RecordId } from '../../../protocol/ids.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import type { Caller } from '../../accounts/caller.ts';

/** Writes that a key is given the content of a record. Resolves once the line is on the disk: only then is it given. */
export async function recordPayloadRead(
  auditLog: Pick<AuditLog, 'record'>,
  { account, key }: Caller,
  id: RecordId,
): Promise<void> {
  const facts = {
    action: 'payload.read',
    address: null,
    by: key.id,
    requestId: null,
    status: null,
    subject: id,
  } as const;
  await auditLog.record(account.id, facts);
}
