import { canonicalize } from '../../protocol/json/canonical.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { readPayload } from '../records/payload/payload-tables.ts';
import {
  isRegItem,
  itemTable,
  type Revision,
  revisionTable,
  SOURCE_ID_PATTERN,
  sourceTable,
} from '../services/regulatory-feed/regwatch-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { recordOfId } from './record-at.ts';
import { readRows } from './rows.ts';

const SOURCE_ID = new RegExp(SOURCE_ID_PATTERN);

/**
 * The regulatory feed: every revision is the payload that its record committed to, every record whose payload is held
 * has its revision, and the states of sources are of sources. The rows by item and by age follow from the records, and
 * are compared with them along the chain.
 */
export const regwatchCheck: TableCheck = {
  tables: [revisionTable, sourceTable],
  async run(check) {
    const { report } = check;
    for await (const { key, parts, value } of readRows(check, revisionTable)) {
      const record = parts.length === 1 ? await recordOfId(check.store, parts[0] ?? '') : undefined;
      if (record === undefined || record.node !== check.own || !isRegItem(record)) {
        report.problem(revisionTable.name, key, 'belongs to no record of an item');
      } else if (value !== undefined) await checkRevision(check, key, record, value);
    }
    for await (const { value: id } of readRows(check, itemTable)) if (id !== undefined) await checkHeld(check, id);
    for await (const { key, parts } of readRows(check, sourceTable)) {
      if (parts.length === 1 && SOURCE_ID.test(parts[0] ?? '')) continue;
      report.problem(sourceTable.name, key, 'is of no source');
    }
  },
};

async function checkRevision(check: Check, key: string, record: AttestationRecord, revision: Revision): Promise<void> {
  const { report } = check;
  report.count('regItems');
  const text = await payloadOf(check, record);
  if (text !== undefined && text !== canonicalize(revision)) {
    report.problem(revisionTable.name, key, 'is not what its record committed to');
  }
}

/** Of a record that is there with its payload, the revision is too: they were one write. */
async function checkHeld(check: Check, id: string): Promise<void> {
  const key = revisionTable.key(id);
  if ((await check.store.get(key)) !== undefined) return;
  const record = await recordOfId(check.store, id);
  if (record === undefined || (await payloadOf(check, record)) === undefined) return;
  check.report.problem(revisionTable.name, key, 'is missing');
}

/** Undefined where it is not held, or does not open, which the walk over the payloads reports. */
async function payloadOf({ store, cipher }: Check, { id, seq }: AttestationRecord): Promise<string | undefined> {
  if (cipher === null) return undefined;
  const opened = await readPayload(store, cipher, id, seq).catch(() => undefined);
  return opened === undefined || opened === 'erased' ? undefined : opened.text;
}
