import type { BatchMessage } from '../../protocol/log/message.ts';
import type { TopicPoint } from './ledger/topic-point.ts';

/**
 * What the log says of a message. Of a batch: that this very message, or one of another envelope, was decided at its number.
 * Of a roster or a revocation: that it is in force. `counts`: it waits among this member's names for a majority. `open`:
 * nothing.
 */
export type NameStanding = 'decided' | 'other' | 'counts' | 'open';

/** What those who name batches and statements know of the ledger's topic, and of what the federation's log made of it. */
export interface Naming {
  /** Of a text that is a ledger message. */
  readonly standingOf: (text: string) => Promise<NameStanding>;
  /** Whether a name of this own batch could decide something now, and its body is held by another member. */
  readonly mayName: (message: BatchMessage) => boolean;
  /** Resolves once the final reading has come to what was the topic's end at the call, or when the signal ends. */
  readonly readToEnd: (signal: AbortSignal) => Promise<void>;
  /** A message of this node is awaited: the topic is to be read soon. */
  readonly readSoon: () => void;
  /** Where a message of this node landed, by the word of a consensus node. */
  readonly noteReceipt: (point: TopicPoint) => void;
}
