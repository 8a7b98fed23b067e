import Type, { type Static } from 'typebox';
import { writeSha384 } from '../../protocol/hash.ts';
import type { EntityId } from '../../protocol/ids.ts';
import { entityParts } from '../../protocol/ledger/entity.ts';
import { INITIAL_RUNNING_HASH, nextRunningHash } from '../../protocol/ledger/running-hash.ts';
import { hashBytes } from '../../protocol/hash.ts';
import { Closed, ConsensusTimestampShape, CountShape, Sha384Shape } from '../../protocol/shapes.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { TopicMessage } from '../ledger/mirror-shapes.ts';

export const TopicHeadShape = Closed({
  /** Sequence number of the last message read; 0 for none. */
  sequence: CountShape,
  runningHash: Sha384Shape,
  consensusTimestamp: Type.Union([ConsensusTimestampShape, Type.Null()]),
});
/** How far a topic has been read. */
export type TopicHead = Static<typeof TopicHeadShape>;

export const INITIAL_HEAD: TopicHead = {
  sequence: 0,
  runningHash: writeSha384(new Uint8Array(INITIAL_RUNNING_HASH)),
  consensusTimestamp: null,
};

/** A message that follows from the one before: a mirror altered, dropped, added or reordered none up to here. */
export interface LinkedMessage extends TopicMessage {
  readonly previousRunningHash: TopicHead['runningHash'];
}

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
 * Links messages to a head, recomputing every running hash (version 3). Throws `LinkError`; then nothing of the page is
 * to be used. Proves order and self-consistency, not that the ledger ever saw the messages: a mirror that makes up a
 * whole chain passes, which is why several mirrors are asked and why members compare what they read.
 */
export function linkMessages(
  head: TopicHead,
  topicId: EntityId,
  messages: readonly TopicMessage[],
): { readonly head: TopicHead; readonly linked: LinkedMessage[] } {
  const linked: LinkedMessage[] = [];
  let last = head;
  for (const message of messages) {
    requireNext(last, message);
    const runningHash = runningHashOf(last, topicId, message);
    if (!equalBytes(runningHash, message.runningHash)) {
      throw new LinkError('running-hash', message.sequence, `message ${message.sequence} has another running hash`);
    }
    linked.push({ ...message, previousRunningHash: last.runningHash });
    last = {
      sequence: message.sequence,
      runningHash: writeSha384(runningHash),
      consensusTimestamp: message.consensusTimestamp,
    };
  }
  return { head: last, linked };
}

function requireNext(head: TopicHead, { sequence, consensusTimestamp }: TopicMessage): void {
  if (sequence !== head.sequence + 1) {
    throw new LinkError('sequence', sequence, `message ${sequence} comes after ${head.sequence}`);
  }
  if (head.consensusTimestamp !== null && nanosOf(consensusTimestamp) <= nanosOf(head.consensusTimestamp)) {
    throw new LinkError('time', sequence, `message ${sequence} is not later than the one before`);
  }
}

function runningHashOf(head: TopicHead, topicId: EntityId, message: TopicMessage): Uint8Array {
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
