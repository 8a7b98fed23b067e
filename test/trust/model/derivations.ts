import type { ChainContext } from '../../../protocol/chain/batch-walk.ts';
import { type ChainState, startOfChain } from '../../../protocol/chain/chain-state.ts';
import { deriveBatch } from '../../../protocol/chain/derive.ts';
import { ChainRefusal } from '../../../protocol/chain/refusal.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import type { Decision } from '../../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../../protocol/log/message.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { keyedSuite } from '../../fixtures/keyed-suite.ts';
import { GENESIS_MS, type Setting } from './setting.ts';

/** A node's chain as far as it is derived. */
export interface Chain {
  readonly state: ChainState;
  readonly ids: ReadonlyMap<RecordId, number>;
}

export function emptyChain(node: NodeId): Chain {
  return { state: startOfChain(node, timestampOf(GENESIS_MS)), ids: new Map() };
}

/** Derives batches; what one member has derived from the same state another comes to without doing it again. */
export class Derivations {
  readonly #setting: Setting;
  readonly #known = new Map<string, Promise<Chain | null>>();

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** The chain after a decided batch; null where it is refused. */
  after(chain: Chain, decision: Decision, sealed: SealedBatch): Promise<Chain | null> {
    const { state } = chain;
    const name = [
      JSON.stringify(state),
      decision.message,
      decision.consensusTimestamp,
      sealed.signedEnvelope.signature,
    ].join(' ');
    const known = this.#known.get(name) ?? this.#derive(chain, decision, sealed);
    this.#known.set(name, known);
    return known;
  }

  async #derive({ state, ids }: Chain, decision: Decision, sealed: SealedBatch): Promise<Chain | null> {
    const named = parseLedgerMessage(decision.message);
    if (named.type !== 'batch') return null;
    const { records, signedEnvelope, signedGroup } = sealed;
    const context: ChainContext = {
      suite: keyedSuite,
      // Every record of the model is the first of a source of its own.
      history: {
        sourceHeads: async (names) => names.map(() => undefined),
        placesOf: async (asked) => asked.map((id) => ids.get(id)),
      },
      publicKeyOf: (keyId) => this.#setting.publicKey(named.node, keyId),
    };
    const decided = { ...named, consensusTimestamp: decision.consensusTimestamp };
    const derived = await deriveBatch(context, state, decided, signedEnvelope, [{ signed: signedGroup, records }]);
    if (derived instanceof ChainRefusal) return null;
    return { state: derived.state, ids: new Map([...ids, ...records.map(({ id, seq }) => [id, seq] as const)]) };
  }
}
