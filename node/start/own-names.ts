import { decodeUtf8 } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { type BatchMessage, parseLedgerMessage } from '../../protocol/log/message.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows } from '../store/store.ts';
import type { FinalMessage } from '../topic/topic-point.ts';
import { startTable } from './start-tables.ts';

/**
 * The last batch of this node that its own account named on the ledger's topic, whether that decided anything or not: the
 * node sealed one of that number, whatever its store says.
 *
 * Crash order: its row lands in the write that takes the messages into the log.
 */
export class OwnNames {
  readonly #self: NodeId;
  #last: number;

  private constructor(self: NodeId, last: number) {
    this.#self = self;
    this.#last = last;
  }

  static async open(store: Rows, self: NodeId): Promise<OwnNames> {
    return new OwnNames(self, (await startTable.get(store, 'named')) ?? 0);
  }

  /** 0 for none. */
  get last(): number {
    return this.#last;
  }

  /** Takes final messages, and returns the rows that land beside what the log makes of them. `state`: before the first. */
  take(messages: readonly FinalMessage[], { federation, accounts }: DecisionState): readonly Operation[] {
    const before = this.#last;
    for (const { payer, message } of messages) {
      if (accounts[payer] !== this.#self) continue;
      const named = batchNamed(message);
      if (named === null || named.federation !== federation || named.node !== this.#self) continue;
      this.#last = Math.max(this.#last, named.batch);
    }
    return this.#last === before ? [] : [startTable.put(['named'], this.#last)];
  }
}

/** Null for a message that names no batch: anyone may write to a topic. */
function batchNamed(message: Uint8Array): BatchMessage | null {
  try {
    const named = parseLedgerMessage(decodeUtf8(message));
    return named.type === 'batch' ? named : null;
  } catch {
    return null;
  }
}
