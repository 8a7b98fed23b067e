import type { RecordId } from '../../../protocol/ids.ts';

/** The caller's handle of a record's encrypted payload, e.g. `pk_eu_01J…`. Destroying its data key erases the payload. */
export function payloadHandle(id: RecordId): string {
  return `pk${id.slice(id.indexOf('_'))}`;
}
