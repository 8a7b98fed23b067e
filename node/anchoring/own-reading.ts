import type { BundleAnchor } from '../../protocol/bundle/bundle.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import type { ConsensusTimestamp } from '../../protocol/time.ts';
import type { Store } from '../store/store.ts';
import { type AnchorRow, MAX_SIGHTINGS, readAnchor } from './anchors.ts';
import type { TopicHead } from './topic-links.ts';

const NANOS_PER_SECOND = 1_000_000_000n;

/**
 * Whether an anchor that somebody brought is none by this node's own reading of the topic: it claims a place, or a time,
 * that the reading has passed, and the message is not there. Of what lies ahead of the reading nothing can be said.
 */
export async function contradictsReading(store: Store, head: TopicHead, anchor: BundleAnchor): Promise<boolean> {
  if (!isPassed(head, anchor)) return false;
  const row = await readRow(store, anchor.message);
  return row === undefined || !isSighting(row, anchor);
}

function isPassed({ sequence, consensusTimestamp }: TopicHead, anchor: BundleAnchor): boolean {
  if (BigInt(anchor.sequence) <= BigInt(sequence)) return true;
  return consensusTimestamp !== null && nanosOf(anchor.consensusTimestamp) <= nanosOf(consensusTimestamp);
}

async function readRow(store: Store, message: string): Promise<AnchorRow | undefined> {
  const parsed = parseLedgerMessage(message);
  return parsed.type === 'batch' ? readAnchor(store, parsed.node, parsed.batch, message) : undefined;
}

function isSighting({ anchor: first, alsoAnchoredAt: others }: AnchorRow, anchor: BundleAnchor): boolean {
  const { sequence, consensusTimestamp, runningHash } = anchor;
  if (first.sequence === sequence) {
    return first.consensusTimestamp === consensusTimestamp && first.runningHash === runningHash;
  }
  const known = others.find((other) => other.sequence === sequence);
  if (known !== undefined) return known.consensusTimestamp === consensusTimestamp;
  // Of a message that was repeated many times only the earliest sightings are kept. A later place has a later time:
  // otherwise whoever repeats a message could date it before them.
  const last = others.at(-1);
  if (others.length < MAX_SIGHTINGS || last === undefined || BigInt(sequence) <= BigInt(last.sequence)) return false;
  return nanosOf(consensusTimestamp) > nanosOf(last.consensusTimestamp);
}

function nanosOf(time: ConsensusTimestamp): bigint {
  const [seconds = '0', nanos = '0'] = time.split('.');
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos);
}
