import type { NodeId } from '../../../protocol/ids.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';
import { type Agreement, CONSENSUS, type Contradiction } from './agreement.ts';
import type { SecondSource } from './second-source.ts';
import type { SourceReader } from './source-reader.ts';
import type { TopicHead } from './topic-links.ts';

/**
 * `sources-differ`: they do, and nothing shows which is right. `second-source`: one mirror alone says it. `members`:
 * two sources say it, and no majority told it yet. `messages`: it is final, and not processed yet.
 */
export type WaitingFor = 'nothing' | 'second-source' | 'sources-differ' | 'members' | 'messages';

/** A mirror, and what became of reading it. */
export interface SourceState {
  readonly host: string;
  /** Sequence number up to which it was read. */
  readonly position: number;
  /** Epoch milliseconds of the last answer that linked; null for none since the start. */
  readonly lastAnswerAt: number | null;
  readonly failure: string | null;
  readonly contradiction: Contradiction | null;
  /** As far ahead of what is final as may be held. */
  readonly paused: boolean;
}

/** What a health page, a metric or the operator wants to know of the reading. */
export interface TopicReadingState {
  /** The last message that was processed. */
  readonly position: TopicHead;
  readonly final: TopicPoint;
  /** What this node tells. */
  readonly agreed: TopicPoint;
  readonly sources: readonly SourceState[];
  /** Null where consensus nodes are not asked. */
  readonly consensus: Omit<SourceState, 'host' | 'position' | 'paused'> | null;
  readonly members: readonly {
    readonly member: NodeId;
    /** What it told last; null for nothing since the start. */
    readonly sequence: number | null;
    readonly contradiction: Contradiction | null;
  }[];
  readonly waitingFor: WaitingFor;
  /** Epoch milliseconds since when something waits for a second source. */
  readonly secondSourceSince: number | null;
}

export function stateOf(
  agreement: Agreement,
  readers: readonly SourceReader[],
  second: SecondSource | null,
): TopicReadingState {
  return {
    position: agreement.position,
    final: agreement.final(),
    agreed: agreement.agreedBySources(),
    sources: readers.map(({ name, lastAnswerAt, failure, isPaused }) => ({
      host: name,
      position: agreement.headOf(name).sequence,
      lastAnswerAt,
      failure,
      contradiction: agreement.contradictionOf(name),
      paused: isPaused,
    })),
    consensus:
      second === null
        ? null
        : {
            lastAnswerAt: second.lastAnswerAt,
            failure: second.failure,
            contradiction: agreement.contradictionOf(CONSENSUS),
          },
    members: agreement.told().map(({ member, point }) => ({
      member,
      sequence: point?.sequence ?? null,
      contradiction: agreement.contradictionOf(member),
    })),
    waitingFor: waitingFor(agreement),
    secondSourceSince: second?.waitingSince ?? null,
  };
}

function waitingFor(agreement: Agreement): WaitingFor {
  const final = agreement.final().sequence;
  const agreed = agreement.agreedBySources().sequence;
  if (agreement.position.sequence < final) return 'messages';
  if (agreement.dispute() !== null) return 'sources-differ';
  if (agreed > final) return 'members';
  return agreement.highestRead() > agreed ? 'second-source' : 'nothing';
}
