import type { NodeId } from '../../../protocol/ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { LedgerPlace, RecordVerdict, Status } from '../../../protocol/verdict/verdict.ts';
import type { ExitCode } from '../../../protocol/verdict/word.ts';
import type { OutboxEvent } from '../../anchoring/outbox.ts';
import type { Evidence } from '../evidence.ts';
import type { RecordJudge } from '../record-judge.ts';

export interface AnchoringViewOptions {
  readonly self: NodeId;
  /** History of an own batch on its way to the ledger; undefined where it was never sealed here. */
  readonly outbox: (batch: number) => Promise<{ readonly history: readonly OutboxEvent[] } | undefined>;
  readonly records: Pick<RecordJudge, 'judge'>;
}

/** How far a record is on its way to the ledger (api-rules §3), as this node knows it. */
export interface AnchoringFacts {
  readonly status: Status;
  /**
   * Whether its proof does not hold, as where its key was stolen before or its batch is misdated. Once its batch is decided
   * that stays so.
   */
  readonly isDenied: boolean;
  /** When a ledger node took the root; null before, and for another node's record, which only its consensus shows. */
  readonly anchoredAt: Timestamp | null;
  /** Consensus time of the decision. */
  readonly confirmedAt: Timestamp | null;
  /** Where the ledger decided the batch; null until it is confirmed. */
  readonly ledger: LedgerPlace | null;
  readonly transactionId: string | null;
  readonly history: readonly { readonly status: Status; readonly at: Timestamp }[];
}

const DENIED: ExitCode = 1;

interface Step {
  readonly status: Status;
  readonly at: Timestamp;
}

/** `pending` or `buffered`: one state under the name of the endpoint that the record came in by. */
export function waitingStatus({ claims }: Pick<AttestationRecord, 'claims'>): 'pending' | 'buffered' {
  return claims.channel === 'tiered' ? 'buffered' : 'pending';
}

/** Reads the anchoring status of records. Only checkpoints of enough members make one `confirmed` (protocol §8). */
export class AnchoringView {
  readonly #options: AnchoringViewOptions;

  constructor(options: AnchoringViewOptions) {
    this.#options = options;
  }

  /** Whether the ledger took a transaction of this node that names the record's batch. */
  async isAnchored(evidence: Evidence): Promise<boolean> {
    const { record, decision } = evidence;
    // What the ledger decided it took. Of another node's records this node takes no transaction for granted.
    if (record.node === this.#options.self && decision !== null) return true;
    const events = await this.#eventsOf(evidence);
    return isTaken(stepsOf(events, waitingStatus(record)));
  }

  /** The same, and when each step was taken. */
  async of(evidence: Evidence): Promise<AnchoringFacts> {
    const { record } = evidence;
    const waiting = waitingStatus(record);
    const events = await this.#eventsOf(evidence);
    const steps = stepsOf(events, waiting);
    const verdict = await this.#options.records.judge(evidence, { anchored: isTaken(steps) });
    return factsOf(verdict, [{ status: waiting, at: record.submittedAt }, ...steps], transactionOf(events));
  }

  /** What the outbox tells after the sealing itself, which changes nothing for the caller. */
  async #eventsOf({ record, batch }: Evidence): Promise<readonly OutboxEvent[]> {
    if (batch === undefined || record.node !== this.#options.self) return [];
    return (await this.#options.outbox(batch.envelope.batch))?.history.slice(1) ?? [];
  }
}

function factsOf(
  { status, exitCode, ledger }: RecordVerdict,
  noted: readonly Step[],
  transactionId: string | null,
): AnchoringFacts {
  const isConfirmed = status === 'confirmed';
  const place = isConfirmed ? ledger : null;
  const history = place === null ? noted : stepsUntil(place.at, noted);
  const isOnItsWay = isConfirmed || status === 'anchored';
  return {
    status,
    isDenied: exitCode === DENIED,
    anchoredAt: isOnItsWay ? (history.findLast((step) => step.status === 'anchored')?.at ?? null) : null,
    confirmedAt: place?.at ?? null,
    ledger: place,
    transactionId,
    history: place === null ? history : [...history, { status: 'confirmed', at: place.at }],
  };
}

/**
 * The steps that were taken by the time of the decision, after the first. The ledger had the message by then: where the
 * node noted that later, as after a stop, it is told of that time.
 */
function stepsUntil(decidedAt: Timestamp, [first, ...noted]: readonly Step[]): readonly Step[] {
  const steps = noted.filter(({ at }) => at <= decidedAt);
  const isNoted = noted.some(({ status }) => status === 'anchored');
  if (isNoted && !isTaken(steps)) steps.push({ status: 'anchored', at: decidedAt });
  return first === undefined ? steps : [first, ...steps];
}

function isTaken(steps: readonly Step[]): boolean {
  return steps.at(-1)?.status === 'anchored';
}

function transactionOf(events: readonly OutboxEvent[]): string | null {
  return events.findLast((event) => event.transactionId !== undefined)?.transactionId ?? null;
}

/**
 * The steps of the outbox in the words that callers see. Preparing a transaction is no step of theirs, and that this
 * node read its message back shows no more than that the ledger took it.
 */
function stepsOf(events: readonly OutboxEvent[], waiting: Status): readonly Step[] {
  const steps: Step[] = [];
  for (const { status, at } of events) {
    const isLast = steps.at(-1)?.status === 'anchored';
    if (status === 'submitted' || (status === 'confirmed' && !isLast)) steps.push({ status: 'anchored', at });
    // Queued again: its transaction died on the way.
    if (status === 'queued') steps.push({ status: waiting, at });
  }
  return steps;
}
