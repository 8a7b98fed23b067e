import { utf8, equalBytes } from '../../../protocol/bytes.ts';
import { writeSha384 } from '../../../protocol/hash.ts';
import type { Decision } from '../../../protocol/log/decision.ts';
import { type ConsensusTimestamp, timestampOfConsensus } from '../../../protocol/time.ts';
import type { MirrorClient } from '../../anchoring/ledger/mirror-client.ts';
import type { MirrorMessage } from '../../anchoring/ledger/mirror-shapes.ts';
import { INITIAL_HEAD, LinkError, linkMessages, type TopicHead } from '../../anchoring/topic/topic-links.ts';
import type { Evidence } from '../../verification/evidence.ts';
import { failed, type Outcome, passed, skipped, warned } from './outcome.ts';

export interface LedgerMessageSources {
  readonly mirror: Pick<MirrorClient, 'mirrors' | 'messageAt'>;
}

export interface LedgerReading {
  readonly outcome: Outcome;
  /** Consensus time by the mirrors' word; null where none of them has said what is signed. */
  readonly consensusTimestamp: ConsensusTimestamp | null;
}

/** What one mirror shows at the place of the decision. */
type Sight =
  | { readonly kind: 'same'; readonly consensusTimestamp: ConsensusTimestamp }
  | { readonly kind: 'other'; readonly how: string }
  | { readonly kind: 'none' };

/** Times further apart than this are pointed out. In milliseconds. */
const LONG_DELAY_MS = 24 * 3_600_000;

/**
 * M2: the deciding message is read again from every mirror, not from what this node has stored, and must be, byte for
 * byte, that of the decision, with a running hash that follows from the message before and comes to the decision's.
 * Mirrors that contradict each other leave it open: it is not known which of them lies.
 */
export async function readLedgerMessage(
  { mirror }: LedgerMessageSources,
  { decision }: Evidence,
  signal: AbortSignal,
): Promise<LedgerReading> {
  if (decision === null) return open('its batch is not decided yet');
  const sights = await Promise.all(
    mirror.mirrors.map((url) => lookAt(mirror, url, decision, signal).catch((): Sight => ({ kind: 'none' }))),
  );
  const same = sights.find((sight) => sight.kind === 'same');
  const other = sights.find((sight) => sight.kind === 'other');
  const place = `message ${decision.sequence} of ${decision.topicId} on ${decision.network}`;
  if (same !== undefined && other !== undefined) return open(`mirrors contradict each other on ${place}`);
  if (other !== undefined) return { outcome: failed(`${place}: ${other.how}`), consensusTimestamp: null };
  if (same === undefined) return open(`no mirror shows ${place} now`);
  const outcome = passed(`${place}, read from a mirror again, names the signed envelope, and links`);
  return { outcome, consensusTimestamp: same.consensusTimestamp };
}

/** M3: the ledger's time, by the mirror's word, against the time that the node gave the record. */
export function checkConsensusTime({ record }: Evidence, consensus: ConsensusTimestamp | null): Outcome {
  if (consensus === null) return skipped('no mirror has told the consensus time');
  const after = Date.parse(timestampOfConsensus(consensus)) - Date.parse(record.submittedAt);
  if (after < 0) return failed(`consensus ${consensus} lies ${-after} ms before the record says it was made`);
  if (after > LONG_DELAY_MS) return warned(`consensus ${consensus} lies more than 24 hours after the record`);
  return passed(`consensus ${consensus}, ${after} ms after the record`);
}

async function lookAt(
  mirror: LedgerMessageSources['mirror'],
  url: string,
  decision: Decision,
  signal: AbortSignal,
): Promise<Sight> {
  const sequence = Number(decision.sequence);
  const messages = await mirror.messageAt(url, decision.topicId, sequence, signal);
  const message = messages.find((each) => each.sequence === sequence);
  const before = messages.find((each) => each.sequence === sequence - 1);
  if (message === undefined) return { kind: 'none' };
  if (!equalBytes(message.message, utf8(decision.message))) {
    return { kind: 'other', how: 'its bytes are not those of the decision' };
  }
  const head = headBefore(sequence, before);
  if (head === undefined) return { kind: 'none' };
  return linkFault(head, decision, message) ?? { kind: 'same', consensusTimestamp: message.consensusTimestamp };
}

/** What the mirror itself tells of the message before: this node's own reading is compared with it afterwards. */
function headBefore(sequence: number, before: MirrorMessage | undefined): TopicHead | undefined {
  if (sequence === 1) return INITIAL_HEAD;
  if (before === undefined) return undefined;
  const { consensusTimestamp } = before;
  return { sequence: before.sequence, runningHash: writeSha384(before.runningHash), consensusTimestamp };
}

function linkFault(head: TopicHead, decision: Decision, message: MirrorMessage): Sight | undefined {
  try {
    const after = linkMessages(head, decision.topicId, [message]);
    if (after.runningHash === decision.runningHash) return undefined;
    return { kind: 'other', how: 'its running hash is not the one that this node read before' };
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    return { kind: 'other', how: 'its running hash does not follow from the message before' };
  }
}

function open(detail: string): LedgerReading {
  return { outcome: skipped(detail), consensusTimestamp: null };
}
