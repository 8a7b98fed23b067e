import type { Logger } from 'pino';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
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
  let isDamaged = false;
  const read = async ({ id }: AttestationRecord): Promise<readonly Evidence[]> => {
    try {
      const found = await readEvidence(sources, id);
      return found === undefined ? [] : [found];
    } catch (error) {
      log.error({ err: error, id }, 'the evidence about a linked record cannot be read');
      isDamaged = true;
      return [];
    }
  };
  const readAll = async (records: readonly AttestationRecord[]) => (await Promise.all(records.map(read))).flat();
  try {
    const found = await findLinked(sources.store, subject);
    const [evidence, incidents] = [await readAll(found.evidence), await readAll(found.incidents)];
    return { evidence, incidents, truncated: found.truncated || isDamaged };
  } catch (error) {
    log.error({ err: error, id: subject.id }, 'records linked to this one cannot be read');
    return { evidence: [], incidents: [], truncated: true };
  }
}
