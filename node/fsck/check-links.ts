import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { isRecordId, type NodeId } from '../../protocol/ids.ts';
import { sessionCountTable } from '../governance/sessions.ts';
import { subjectTable } from '../governance/subjects.ts';
import { linkedTable, linkTable } from '../records/link-tables.ts';
import { findKey, payloadKeyTable, readSeed } from '../records/payload/payload-keys.ts';
import type { Check, TableCheck } from './check.ts';
import { recordOfId } from './record-at.ts';
import { countRows, distinctParts, readRows } from './rows.ts';

/** Account, pseudonym, record. */
const KEY_PARTS = 3;

/** Rows by which a person's records are found: each leads to a record of this node and account that has its payload. */
export const subjectCheck: TableCheck = {
  tables: [subjectTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, subjectTable)) {
      const [account = '', , id = ''] = parts;
      const { report, store } = check;
      if (parts.length !== KEY_PARTS || value !== id) {
        report.problem(subjectTable.name, key, 'is no row of this table');
        continue;
      }
      const record = await ownRecord(check, id, account);
      if (record === undefined) {
        report.problem(subjectTable.name, key, `leads to ${id}, which is no record of this account here`);
      } else if ((await readSeed(store, record)) === undefined) {
        report.warning(subjectTable.name, key, `leads to ${id}, whose payload is gone`);
      }
    }
  },
};

async function ownRecord({ store, own }: Check, id: string, account: string): Promise<AttestationRecord | undefined> {
  const record = await recordOfId(store, id);
  return record !== undefined && record.node === own && record.account === account ? record : undefined;
}

/**
 * What records say about records that they link to: that each of those is marked; of own ones the number of decisions of
 * each session, counted again by their links, and that what an erasure names has no key any more.
 */
export const linkedCheck: TableCheck = {
  tables: [sessionCountTable, linkedTable],
  async run(check) {
    const { report, own } = check;
    for await (const { key, parts, value } of readRows(check, linkedTable)) {
      if (value === '' && parts.length === 1 && isRecordId(parts[0] ?? '')) continue;
      if (value !== undefined) report.problem(linkedTable.name, key, 'is no row of this table');
    }
    for await (const { key, parts, value } of readRows(check, sessionCountTable)) {
      const [session = ''] = parts;
      const isCountable = own !== null && parts.length === 1;
      const counted = isCountable ? await countRows(check, linkTable, ...decisionsOf(session, own)) : 0;
      if (value === undefined || value === counted) continue;
      report.problem(sessionCountTable.name, key, `holds ${value}, but ${counted} decisions name the session`);
    }
    await checkTargets(check, own);
  },
};

async function checkTargets({ store, report, signal }: Check, own: NodeId | null): Promise<void> {
  const isLinked = async (...parts: readonly string[]) =>
    (await store.first(under(linkTable.key(...parts)))) !== undefined;
  for await (const target of distinctParts(store, linkTable.name)) {
    signal?.throwIfAborted();
    if (!isRecordId(target)) continue;
    const mark = linkedTable.key(target);
    if ((await store.get(mark)) === undefined) report.problem(linkedTable.name, mark, 'is missing');
    if (own === null) continue;
    const countKey = sessionCountTable.key(target);
    if ((await isLinked(...decisionsOf(target, own))) && (await store.get(countKey)) === undefined) {
      report.problem(sessionCountTable.name, countKey, 'is missing');
    }
    if (!(await isLinked(target, 'erased', 'erasure', own))) continue;
    const record = await recordOfId(store, target);
    const key = record && (await findKey(store, record));
    if (key === undefined || key.seed === null) continue;
    report.problem(payloadKeyTable.name, key.row, `has the key of ${target}, whose payload was erased`);
  }
}

function decisionsOf(session: string, own: NodeId) {
  return [session, 'session', 'decision', own] as const;
}

function under(prefix: string) {
  return { gte: `${prefix}/`, lt: `${prefix}0` };
}
