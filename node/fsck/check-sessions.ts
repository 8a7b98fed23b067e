import type { NodeId } from '../../protocol/ids.ts';
import { sessionCountTable } from '../compliance/session-count.ts';
import { linkTable } from '../records/link-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { countRows, distinctParts, readRows } from './rows.ts';

/** The number of decisions of each session, counted again by the links of the own decisions. */
export const sessionCheck: TableCheck = {
  tables: [sessionCountTable],
  async run(check) {
    const { report, own } = check;
    for await (const { key, parts, value } of readRows(check, sessionCountTable)) {
      const [session = ''] = parts;
      const counted =
        own === null || parts.length !== 1 ? 0 : await countRows(check, linkTable, ...within(session, own));
      if (value === undefined || value === counted) continue;
      report.problem(sessionCountTable.name, key, `holds ${value}, but ${counted} decisions name the session`);
    }
    if (own !== null) await findUncounted(check, own);
  },
};

async function findUncounted({ store, report, signal }: Check, own: NodeId): Promise<void> {
  for await (const target of distinctParts(store, linkTable.name)) {
    signal?.throwIfAborted();
    const first = await store.first(under(linkTable.key(...within(target, own))));
    if (first === undefined || (await store.get(sessionCountTable.key(target))) !== undefined) continue;
    report.problem(sessionCountTable.name, sessionCountTable.key(target), 'is missing');
  }
}

function within(session: string, own: NodeId) {
  return [session, 'session', 'decision', own] as const;
}

function under(prefix: string) {
  return { gte: `${prefix}/`, lt: `${prefix}0` };
}
