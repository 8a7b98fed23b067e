import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { namedBy } from '../accounts/elsewhere/account-versions.ts';
import { heldPayload } from '../accounts/elsewhere/statement-payloads.ts';
import type { OpenedPayload, PayloadCipher } from '../records/payload/payload-cipher.ts';
import { readPayload } from '../records/payload/payload-tables.ts';
import { type Evidence, type EvidenceSources, readEvidence } from './evidence.ts';
import type { RecordExchange } from './record-exchange.ts';
import type { PayloadAnswer } from './verifier.ts';

/** Where evidence and payloads come from: this store, then the node that made the record. */
export interface EvidenceSearch {
  readonly self: NodeId;
  readonly sources: EvidenceSources;
  readonly cipher: PayloadCipher;
  readonly exchange: Pick<RecordExchange, 'askEvidence' | 'askPayload'>;
}

/**
 * Returns the evidence about a record: from this store, else from the node that made it, else once more from this
 * store, for the record's batch may have arrived while its node was being asked. Undefined where nobody has it. Throws
 * `EvidenceDamagedError`.
 */
export async function findEvidence({ sources, exchange }: EvidenceSearch, id: RecordId): Promise<Evidence | undefined> {
  return (await readEvidence(sources, id)) ?? (await exchange.askEvidence(id)) ?? readEvidence(sources, id);
}

/**
 * Returns salt and payload of a record, or why they cannot be had. An own record's are in this store; those of another
 * node's account version are held here where the version names this node, and withheld where it does not; all others
 * are asked for at the record's node.
 */
export async function findPayload(
  { self, sources, cipher, exchange }: EvidenceSearch,
  { record }: Evidence,
): Promise<PayloadAnswer> {
  if (record.node === self) return ownPayload(sources, cipher, record);
  if (record.kind !== 'account') return exchange.askPayload(record.id);
  if (!namedBy(record).includes(self)) return 'withheld';
  return (await heldPayload(sources.store, record)) ?? exchange.askPayload(record.id);
}

/** Salt and payload of an own record. Throws `PayloadDamagedError`. */
export function ownPayload(
  { store }: Pick<EvidenceSources, 'store'>,
  cipher: PayloadCipher,
  { id, seq }: { readonly id: RecordId; readonly seq: number },
): Promise<OpenedPayload | 'erased'> {
  return readPayload(store, cipher, id, seq);
}
