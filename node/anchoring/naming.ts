import type { NodeId } from '../../protocol/ids.ts';
import type { BatchMessage } from '../../protocol/log/message.ts';

/** What was decided at the number that a message names: the very batch of the message, another one, or nothing yet. */
export type NameStanding = 'decided' | 'other' | 'open';

/** What those who name batches know of the federation's log. */
export interface Naming {
  readonly standingOf: (node: NodeId, batch: number, message: string) => Promise<NameStanding>;
  /** Whether a name of this own batch could decide something now, and its body is held by another member. */
  readonly mayName: (message: BatchMessage) => boolean;
  /** Resolves once the final reading has come to what was the topic's end at the call, or when the signal ends. */
  readonly readToEnd: (signal: AbortSignal) => Promise<void>;
}
