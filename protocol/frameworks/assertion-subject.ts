import type { AttestationRecord } from '../chain/record.ts';
import { NOT_APPLICABLE_EVENT } from './event-types.ts';

/**
 * What an assertion of the event `NOT_APPLICABLE` is about: its clause, source and system, as one text. Of several
 * about the same the newest stands, without a link. Undefined where the record asserts of no clause that it does not
 * apply.
 */
export function assertionSubject({ kind, claims, sourceId }: AttestationRecord): string | undefined {
  const { eventType, framework, clause, systemId = null } = claims;
  if (kind !== 'decision' || eventType !== NOT_APPLICABLE_EVENT) return undefined;
  if (framework === undefined || clause === undefined) return undefined;
  return JSON.stringify([framework, clause, sourceId, systemId]);
}
