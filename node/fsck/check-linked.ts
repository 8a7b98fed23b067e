import type { NodeId } from '../../protocol/ids.ts';
import { sessionCountTable } from '../governance/session-count.ts';
import { findKey, payloadKeyTable } from '../records/payload/payload-keys.ts';
import { linkTable } from '../records/link-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { recordOfId } from './record-at.ts';
import { countRows, distinctParts, readRows } from './rows.ts';

/**
 * What own records say about records that they link to: the number of decisions of each session, counted again by their
 * links, and that what an erasure names has no key any more.
 */
export const linkedCheck: TableCheck = {
  tables: [sessionCountTable],
  async run(check) {
    const { report, own } = check;
    for await (const { key, parts, value } of readRows(check, sessionCountTable)) {
      const [session = ''] = parts;
      const isCountable = own !== null && parts.length === 1;
      const counted = isCountable ? await countRows(check, linkTable, ...decisionsOf(session, own)) : 0;
      if (value === undefined || value === counted) continue;
      report.problem(sessionCountTable.name, key, `holds ${value}, but ${counted} decisions name the session`);
    }
    if (own !== null) await checkTargets(check, own);
  },
};

async function checkTargets({ store, report, signal }: Check, own: NodeId): Promise<void> {
  const isLinked = async (...parts: readonly string[]) =>
    (await store.first(under(linkTable.key(...parts)))) !== undefined;
  for await (const target of distinctParts(store, linkTable.name)) {
    signal?.throwIfAborted();
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
