import ical, { ICalAlarmType, ICalEventStatus } from 'ical-generator';
import type { NodeId } from '../../../protocol/ids.ts';

/** How long before the end a calendar rings. In seconds. */
const ALARM_SECONDS = 86_400;

/** What ends at a time. */
export interface Due {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly stamp: number;
  readonly sequence: number;
  readonly isCancelled: boolean;
  readonly summary: string;
}

/** The file of RFC 5545 with one event for each of them. */
export function calendarFile(node: NodeId, due: readonly Due[]): string {
  const calendar = ical({
    prodId: { company: 'Meridian', product: 'Calendar of what is due', language: 'EN' },
    name: `Meridian ${node}`,
  });
  for (const { id, at, stamp, sequence, isCancelled, summary } of due) {
    calendar.createEvent({
      id,
      start: new Date(at),
      stamp: new Date(stamp),
      sequence,
      summary,
      status: isCancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
      alarms: isCancelled ? [] : [{ type: ICalAlarmType.display, trigger: ALARM_SECONDS, description: summary }],
    });
  }
  return calendar.toString();
}
