import { decodeUtf8 } from '../../../protocol/bytes.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { type DecisionState, isRevoked, knownNode } from '../../../protocol/log/decision-state.ts';
import { type BatchMessage, parseLedgerMessage } from '../../../protocol/log/message.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import type { Operation } from '../../store/operation.ts';
import type { Rows } from '../../store/store.ts';
import { ownNameTable } from '../../log/start-tables.ts';

/** Names kept, of the numbers that come first: a node names one batch after the other. */
const MAX_NAMES = 64;

/**
 * The batches of this node that its own account named on the ledger's topic and that are not decided: the node sealed one of
 * each number, whatever its store says.
 *
 * Crash order: a name's row lands in the write that takes its message into the log.
 */
export class OwnNames {
  readonly #self: NodeId;
  /** By number, the key of the name that came last. */
  readonly #names: Map<number, Sha256Hash>;

  private constructor(self: NodeId, names: Map<number, Sha256Hash>) {
    this.#self = self;
    this.#names = names;
  }

  static async open(store: Rows, self: NodeId): Promise<OwnNames> {
    const names = new Map<number, Sha256Hash>();
    for await (const [[batch = ''], keyId] of ownNameTable.under(store, [])) names.set(Number(batch), keyId);
    return new OwnNames(self, names);
  }

  /**
   * The last own batch that is decided, or named so that it still can be: a name by a key that was revoked decides nothing.
   * 0 for none. A node names each number after the one before, so a name behind a gap is none of its own: whoever stole its
   * account named it, and makes it wait for nothing.
   */
  last(state: DecisionState): number {
    let last = decidedOf(state, this.#self);
    for (let keyId = this.#names.get(last + 1); keyId !== undefined; keyId = this.#names.get(last + 1)) {
      if (isRevoked(state, this.#self, keyId)) break;
      last++;
    }
    return last;
  }

  /** Takes final messages, and returns the rows that land beside what the log makes of them. `state`: before the first. */
  take(messages: readonly TopicMessage[], state: DecisionState): readonly Operation[] {
    const { federation, accounts } = state;
    const changed = new Set<number>();
    for (const { payer, message } of messages) {
      if (accounts[payer] !== this.#self) continue;
      const named = batchNamed(message);
      if (named === null || named.federation !== federation || named.node !== this.#self) continue;
      // It decides nothing, and must not hide a name that can.
      if (isRevoked(state, this.#self, named.keyId)) continue;
      this.#names.set(named.batch, named.keyId);
      changed.add(named.batch);
    }
    const decided = decidedOf(state, this.#self);
    const kept = [...this.#names.keys()].filter((batch) => batch > decided).sort((a, b) => a - b);
    const dropped = [...this.#names.keys()].filter((batch) => !kept.slice(0, MAX_NAMES).includes(batch));
    for (const batch of dropped) this.#names.delete(batch);
    const rows = [...changed].flatMap((batch) => {
      const keyId = this.#names.get(batch);
      return keyId === undefined ? [] : [ownNameTable.put([batch], keyId)];
    });
    return [...rows, ...dropped.map((batch) => ownNameTable.del(batch))];
  }
}

function decidedOf(state: DecisionState, self: NodeId): number {
  return knownNode(state, self)?.last?.batch ?? 0;
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
