import type { Sha256Hash } from '../../protocol/hash.ts';
import type { TopicMessage } from '../../protocol/log/decide.ts';
import type { Operation } from '../store/operation.ts';
import type { Advance, FederationLog } from './federation-log.ts';

/** The text of a roster that is to come into force is not here. */
export class RosterLackingError extends Error {
  override readonly name = 'RosterLackingError';
}

export interface TakeFinalOptions {
  /** Text of the roster that has this hash, where it is here. */
  readonly textOf: (hash: Sha256Hash) => string | undefined | Promise<string | undefined>;
  /** Rows that land in the write of each. */
  readonly besides?: readonly Operation[];
  /** Told of what each write came to, after it. */
  readonly onAdvance: (advance: Advance) => Promise<void>;
}

/**
 * Lets the log read final messages, and brings it the texts of rosters that it needs. Throws `RosterLackingError` where
 * one is not here: what comes before it is read then. The same messages may come again, which is read on from where the
 * log is.
 */
export async function takeFinal(
  log: FederationLog,
  messages: readonly TopicMessage[],
  { textOf, besides, onAdvance }: TakeFinalOptions,
): Promise<void> {
  for (;;) {
    const unread = messages.filter(({ sequence }) => sequence > log.state.sequence);
    if (unread.length === 0) return;
    const advance = await log.take(unread, besides);
    await onAdvance(advance);
    if (advance.needs === null) return;
    const text = await textOf(advance.needs);
    if (text === undefined) {
      throw new RosterLackingError(`the ledger puts roster ${advance.needs} in force, which is not here`);
    }
    await log.keepRoster(text);
  }
}
