import { earliestDue } from '../../protocol/compliance/incident-clocks.ts';
import { isNotification } from '../../protocol/compliance/incident-state.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Projection } from '../records/projection.ts';
import { Table, textCodec } from '../store/table.ts';

/** (account, earliest end of its clocks in epoch milliseconds, seq) → incident. The soonest due comes first. */
export const incidentTable = new Table('incident', textCodec);
/** (incident, seq) → own record that says that somebody was told of it. The first comes first. */
export const notificationTable = new Table('notification', textCodec);

export const INCIDENT_PROJECTIONS: readonly Projection[] = [
  {
    table: incidentTable,
    rowsOf: (record) =>
      record.kind === 'incident' ? [incidentTable.put([record.account, dueKey(record), record.seq], record.id)] : [],
  },
  {
    table: notificationTable,
    rowsOf: (record) => {
      const { incident } = record.links;
      return isNotification(record) && incident !== undefined
        ? [notificationTable.put([incident, record.seq], record.id)]
        : [];
    },
  },
];

/** Keys hold no negative numbers: what was due before 1970 comes first of all. */
function dueKey(record: AttestationRecord): number {
  return Math.max(0, Date.parse(earliestDue(record).dueAt));
}
