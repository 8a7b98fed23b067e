import type { Sha256Hash } from '../../protocol/hash.ts';
import type { ChainReading } from './chain-reading.ts';
import type { ChainWatch } from './chain-watch.ts';

/** Anchors that fit no envelope of which the nodes are asked in one round: new ones, and ones that were asked of before. */
const NEW_A_ROUND = 4;
const OLD_A_ROUND = 1;

/**
 * Asks every node for the envelopes of anchors that fit none. Whoever may write to the topic can make any number of them,
 * so each is asked of once, soon, and then in turn: the nodes are not to be asked for nothing all the time.
 */
export class ForeignAnchors {
  #asked = new Set<Sha256Hash>();
  #turn = 0;

  async explain(chains: readonly ChainWatch[], reading: ChainReading): Promise<void> {
    const all = chains.flatMap((chain) => chain.foreign.map((anchor) => ({ chain, anchor })));
    const isAsked = ({ anchor }: (typeof all)[number]) => this.#asked.has(anchor.message);
    const old = all.filter(isAsked);
    const inTurn = Array.from({ length: Math.min(OLD_A_ROUND, old.length) }, () => old[this.#turn++ % old.length]);
    this.#asked = new Set(old.map(({ anchor }) => anchor.message));
    for (const one of [...all.filter((each) => !isAsked(each)).slice(0, NEW_A_ROUND), ...inTurn]) {
      if (one === undefined) continue;
      const { chain, anchor } = one;
      const found: ReadonlySet<Sha256Hash> | null = await reading.inquire(chain.node, anchor.batch);
      if (found === null) return;
      this.#asked.add(anchor.message);
      if (found.has(anchor.envelope)) chain.explain(anchor);
    }
  }
}
