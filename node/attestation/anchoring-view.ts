import type { AnchoringStatus } from '../../protocol/bundle/verdict.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { type Timestamp, timestampOfConsensus } from '../../protocol/time.ts';
import type { OutboxEvent } from '../anchoring/outbox.ts';
import type { Evidence } from '../verification/evidence.ts';

export interface AnchoringViewOptions {
  readonly self: NodeId;
  /** History of an own batch on its way to the ledger; undefined where it was never sealed here. */
  readonly outbox: (batch: number) => Promise<{ readonly history: readonly OutboxEvent[] } | undefined>;
}

/** A record with its batch and that batch's anchor, as far as it has them. */
export interface AnchoredRecord extends Pick<Evidence, 'record' | 'batch'> {
  readonly bundle: Pick<Evidence['bundle'], 'anchor'>;
}

/** How far a record is on its way to the ledger (DOMAIN §4), as this node knows it. */
export interface AnchoringFacts {
  readonly status: AnchoringStatus;
  /** When a ledger node took the root; null before, and for another node's record, which only its consensus shows. */
  readonly anchoredAt: Timestamp | null;
  /** Consensus time. */
  readonly confirmedAt: Timestamp | null;
  readonly transactionId: string | null;
  readonly history: readonly { readonly status: AnchoringStatus; readonly at: Timestamp }[];
}

/** `pending` or `buffered`: one state under the name of the endpoint that the record came in by. */
export function waitingStatus({ claims }: Pick<AttestationRecord, 'claims'>): 'pending' | 'buffered' {
  return claims.channel === 'tiered' ? 'buffered' : 'pending';
}

/** Reads the anchoring status of records. Only a message read back from the ledger makes one `confirmed`. */
export class AnchoringView {
  readonly #options: AnchoringViewOptions;

  constructor(options: AnchoringViewOptions) {
    this.#options = options;
  }

  async of({ record, batch, bundle }: AnchoredRecord): Promise<AnchoringFacts> {
    const waiting = waitingStatus(record);
    const isOwn = batch !== undefined && record.node === this.#options.self;
    const row = isOwn ? await this.#options.outbox(batch.envelope.batch) : undefined;
    // The first event is the sealing itself, which changes nothing for the caller.
    const events = row?.history.slice(1) ?? [];
    const steps = events.flatMap((event) => stepOf(event, waiting));
    const confirmedAt = bundle.anchor === null ? null : timestampOfConsensus(bundle.anchor.consensusTimestamp);
    const last = steps.at(-1)?.status ?? waiting;
    const status = confirmedAt === null ? (last === 'confirmed' ? 'anchored' : last) : 'confirmed';
    const history = [
      { status: waiting, at: record.submittedAt },
      ...steps.filter(({ status: step }) => step !== 'confirmed'),
    ];
    return {
      status,
      anchoredAt: status === waiting ? null : (history.findLast((step) => step.status === 'anchored')?.at ?? null),
      confirmedAt,
      transactionId:
        bundle.anchor?.transactionId ?? events.findLast((event) => event.transactionId)?.transactionId ?? null,
      history: confirmedAt === null ? history : [...history, { status: 'confirmed', at: confirmedAt }],
    };
  }
}

/** A step of the outbox in the words that callers see. Preparing a transaction is no step of theirs. */
function stepOf(
  { status, at }: OutboxEvent,
  waiting: AnchoringStatus,
): readonly { readonly status: AnchoringStatus; readonly at: Timestamp }[] {
  if (status === 'submitted') return [{ status: 'anchored', at }];
  if (status === 'confirmed') return [{ status: 'confirmed', at }];
  // Queued again: its transaction died on the way.
  return status === 'queued' ? [{ status: waiting, at }] : [];
}
