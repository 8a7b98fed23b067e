import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { countedScopes } from '../../protocol/compliance/retention.ts';
import { LOCK_SCOPES } from '../../protocol/statement/vocabulary.ts';
import { holdCountTable, holdTable, lockTable } from '../governance/lock-tables.ts';
import { linkTable } from '../records/link-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { recordOfId } from './record-at.ts';
import { countRows, decodeRow, distinctParts, readRows } from './rows.ts';

/** Legal holds counted again, source by source, by locks and releases; and who placed each. */
export const retentionCheck: TableCheck = {
  tables: [holdCountTable, holdTable],
  async run(check) {
    await checkHoldCounts(check);
    await checkHolders(check);
  },
};

async function checkHoldCounts(check: Check): Promise<void> {
  const { store, report } = check;
  let right = 0;
  for await (const account of distinctParts(store, lockTable.name)) {
    for await (const source of distinctParts(store, `${lockTable.name}/${account}`)) {
      const counts = await holdsOf(check, account, source);
      for (const scope of new Set([...LOCK_SCOPES, ...counts.keys()])) {
        const key = holdCountTable.key(account, source, scope);
        const bytes = await store.get(key);
        const held = bytes === undefined ? 0 : decodeRow(report, holdCountTable, key, bytes);
        if (bytes !== undefined) right++;
        const counted = counts.get(scope) ?? 0;
        if (held === undefined || held === counted) continue;
        report.problem(holdCountTable.name, key, `holds ${held}, but ${counted} legal holds hold`);
      }
    }
  }
  if ((await countRows(check, holdCountTable)) !== right) {
    report.problem(holdCountTable.name, null, 'counts legal holds that no lock has');
  }
}

/** Legal holds of a source that nobody has released, by scope; 0 where all were. */
async function holdsOf(check: Check, account: string, source: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { value } of readRows(check, lockTable, account, source)) {
    const lock = await ownRecord(check, value ?? '');
    if (lock?.claims.legalHold !== true) continue;
    const by = (await isReleased(check, lock)) ? 0 : 1;
    for (const scope of countedScopes(lock.claims.scope ?? [])) counts.set(scope, (counts.get(scope) ?? 0) + by);
  }
  return counts;
}

async function checkHolders(check: Check): Promise<void> {
  for await (const { key, parts } of readRows(check, holdTable)) {
    const lock = parts.length === 1 ? await ownRecord(check, parts[0] ?? '') : undefined;
    if (lock?.kind === 'retention_lock' && lock.claims.legalHold === true && !(await isReleased(check, lock))) continue;
    check.report.problem(holdTable.name, key, 'belongs to no legal hold');
  }
}

async function isReleased({ store, own }: Check, { id }: AttestationRecord): Promise<boolean> {
  const releases = linkTable.key(id, 'lock', 'retention_lock', own ?? '');
  return (await store.first({ gte: `${releases}/`, lt: `${releases}0` })) !== undefined;
}

async function ownRecord({ store, own }: Check, id: string): Promise<AttestationRecord | undefined> {
  const record = await recordOfId(store, id);
  return record?.node === own ? record : undefined;
}
