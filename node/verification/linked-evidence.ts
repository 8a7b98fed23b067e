import type { Logger } from 'pino';
import type { AttestationRecord } from '../../protocol/statement/record.ts';
import { type Evidence, type EvidenceSources, readEvidence } from './evidence.ts';
import { findLinked } from './linked-records.ts';

/** Evidence about the records linked to one. What does not hold is still among it: it is judged like any other. */
export interface LinkedEvidence {
  /** About the records that the evidence rules read. */
  readonly evidence: readonly Evidence[];
  readonly incidents: readonly Evidence[];
  /** Whether there is more of it than was gathered. */
  readonly truncated: boolean;
}

/**
 * Gathers the evidence about the records linked to a record, as far as this store has it. Never throws: the record
 * itself is judged whatever became of those, and what of them cannot be read shows nothing.
 */
export async function readLinked(
  sources: EvidenceSources,
  subject: AttestationRecord,
  log: Logger,
): Promise<LinkedEvidence> {
  const readAll = async (records: readonly AttestationRecord[]): Promise<readonly Evidence[]> => {
    const found = await Promise.all(records.map(({ id }) => readEvidence(sources, id)));
    return found.filter((evidence) => evidence !== undefined);
  };
  try {
    const { evidence, incidents, truncated } = await findLinked(sources.store, subject);
    return { evidence: await readAll(evidence), incidents: await readAll(incidents), truncated };
  } catch (error) {
    log.error({ err: error, id: subject.id }, 'records linked to this one cannot be read');
    return { evidence: [], incidents: [], truncated: true };
  }
}
