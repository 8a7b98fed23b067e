import type { NodeId } from '../../../protocol/ids.ts';
import type { Store } from '../../store/store.ts';
import { auditHeadTable, type ChainEnd } from './audit-tables.ts';
import { firstEnd } from './chain-pages.ts';

/** Ends kept in memory; the others are read back when their account is heard of again. */
const MAX_CACHED_ENDS = 10_000;

/** Ends of the accounts' chains that are on the disk, cached. */
export class ChainEnds {
  readonly #store: Store;
  readonly #node: NodeId;
  readonly #cache = new Map<string, ChainEnd>();

  constructor(store: Store, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  /** Makes sure that `get` can answer for these accounts. */
  async load(accounts: readonly string[]): Promise<void> {
    const missing = accounts.filter((account) => !this.#cache.has(account));
    this.#makeSpace(new Set(accounts), missing.length);
    const rows = await Promise.all(missing.map((account) => auditHeadTable.get(this.#store, account)));
    for (const [i, account] of missing.entries()) this.#cache.set(account, rows[i] ?? firstEnd(this.#node, account));
  }

  /** The end of a loaded account's chain. */
  get(account: string): ChainEnd {
    const end = this.#cache.get(account);
    if (end === undefined) throw new RangeError(`the chain of ${account} was not loaded`);
    return end;
  }

  /** Called once the rows are on the disk. */
  move(account: string, end: ChainEnd): void {
    this.#cache.set(account, end);
  }

  /** Drops the accounts cached longest ago, but none that is about to be used. */
  #makeSpace(needed: ReadonlySet<string>, more: number): void {
    let surplus = this.#cache.size + more - MAX_CACHED_ENDS;
    for (const account of this.#cache.keys()) {
      if (surplus <= 0) return;
      if (!needed.has(account) && this.#cache.delete(account)) surplus--;
    }
  }
}
