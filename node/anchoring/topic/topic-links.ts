import { writeSha384 } from '../../../protocol/hash.ts';
import type { EntityId } from '../../../protocol/ids.ts';
import { entityParts } from '../../../protocol/ledger/entity.ts';
import { INITIAL_RUNNING_HASH, nextRunningHash } from '../../../protocol/ledger/running-hash.ts';
import { hashBytes } from '../../../protocol/hash.ts';
import type { ConsensusTimestamp } from '../../../protocol/time.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { MirrorMessage } from '../ledger/mirror-shapes.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';

/** How far a topic has been read. */
export interface TopicHead extends TopicPoint {
  /** Of the last message; null before the first, or where it is not known. */
  readonly consensusTimestamp: ConsensusTimestamp | null;
}

export const INITIAL_HEAD: TopicHead = {
  sequence: 0,
  runningHash: writeSha384(new Uint8Array(INITIAL_RUNNING_HASH)),
  consensusTimestamp: null,
};

export type LinkFault = 'sequence' | 'time' | 'running-hash' | 'length';

/** A mirror's messages do not follow from what was read before: it lies, or the ledger is not the one that it was. */
export class LinkError extends Error {
  override readonly name = 'LinkError';
  readonly fault: LinkFault;
  /** Sequence number of the message at fault. */
  readonly sequence: number;

  constructor(fault: LinkFault, sequence: number, message: string) {
    super(message);
    this.fault = fault;
    this.sequence = sequence;
  }
}

/**
 * Links messages to a head, recomputing every running hash (version 3), and returns the head after them. Throws
 * `LinkError`; then nothing of the page is to be used. Proves order and self-consistency, not that the ledger ever saw
 * the messages: a mirror that makes up a whole chain passes, which is why several mirrors are asked and why members
 * compare what they read.
 */
export function linkMessages(head: TopicHead, topicId: EntityId, messages: readonly MirrorMessage[]): TopicHead {
  let last = head;
  for (const message of messages) {
    const { sequence, consensusTimestamp } = message;
    requireNext(last, message);
    const runningHash = runningHashOf(last, topicId, message);
    if (!equalBytes(runningHash, message.runningHash)) {
      throw new LinkError('running-hash', sequence, `message ${sequence} has another running hash`);
    }
    last = { sequence, runningHash: writeSha384(runningHash), consensusTimestamp };
  }
  return last;
}

function requireNext(head: TopicHead, { sequence, consensusTimestamp }: MirrorMessage): void {
  if (sequence !== head.sequence + 1) {
    throw new LinkError('sequence', sequence, `message ${sequence} comes after ${head.sequence}`);
  }
  if (head.consensusTimestamp !== null && nanosOf(consensusTimestamp) <= nanosOf(head.consensusTimestamp)) {
    throw new LinkError('time', sequence, `message ${sequence} is not later than the one before`);
  }
}

function runningHashOf(head: TopicHead, topicId: EntityId, message: MirrorMessage): Uint8Array {
  const nanos = nanosOf(message.consensusTimestamp);
  return nextRunningHash((data) => nativeSuite.sha384(data), {
    previous: hashBytes(head.runningHash),
    payer: entityParts(message.payer),
    topic: entityParts(topicId),
    seconds: nanos / NANOS_PER_SECOND,
    nanos: Number(nanos % NANOS_PER_SECOND),
    sequence: BigInt(message.sequence),
    message: message.message,
  });
}

const NANOS_PER_SECOND = 1_000_000_000n;

/** Nine decimals: without the point, the text counts nanoseconds. */
function nanosOf(consensusTimestamp: string): bigint {
  return BigInt(consensusTimestamp.replace('.', ''));
}
