import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { lastVersion } from '../records/account-record-table.ts';
import { readBatch, readBatchOf, readHead, type StoredBatch } from '../records/batch-tables.ts';
import { decisionNaming, type EvidenceSources } from './evidence.ts';

/** A version of an account's statement that was decided, and its place in the log. */
export interface DecidedVersion {
  readonly id: RecordId;
  readonly index: number;
}

interface Place {
  readonly batch: StoredBatch | undefined;
  /** Null while its batch is not decided. */
  readonly index: number | null;
}

/**
 * Finds versions of accounts' statements by their places in the log, as far as this node has them: one that it has not
 * got yet says nothing here.
 */
export class AccountVersions {
  readonly #sources: Pick<EvidenceSources, 'decisionOf' | 'store'>;

  constructor(sources: Pick<EvidenceSources, 'decisionOf' | 'store'>) {
    this.#sources = sources;
  }

  /** Place in this node's log of the decision on a record; null while there is none. */
  async placeOf({ node, seq }: { readonly node: NodeId; readonly seq: number }): Promise<number | null> {
    return (await this.#place(node, seq)).index;
  }

  /**
   * The newest version that was decided before a place in the log; null: before any that is to come. The last one is
   * looked at first; where that is too young, the home's batches, which were decided in their order, are searched by
   * halves.
   */
  async newestBefore(account: string, place: number | null): Promise<DecidedVersion | undefined> {
    const { store } = this.#sources;
    const home = homeOf(account);
    const last = home && (await lastVersion(store, account, home));
    if (home === undefined || last === undefined) return undefined;
    const { index, batch } = await this.#place(home, last.seq);
    if (isBefore(index, place)) return { id: last.id, index };
    const youngest =
      batch === undefined ? await readHead(store, home) : await readBatch(store, home, batch.envelope.batch - 1);
    const holding = youngest && (await this.#lastBatchBefore(youngest, place));
    if (holding === undefined) return undefined;
    const { first, size } = holding.envelope;
    const found = await lastVersion(store, account, home, first + size - 1);
    const decided = found && (await this.#place(home, found.seq)).index;
    return found !== undefined && isBefore(decided ?? null, place) ? { id: found.id, index: decided ?? 0 } : undefined;
  }

  /** Of a node's batches up to this one the last that was decided before a place. */
  async #lastBatchBefore(
    { envelope: { node, batch } }: StoredBatch,
    place: number | null,
  ): Promise<StoredBatch | undefined> {
    let [low, high] = [0, batch];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const decision = await this.#sources.decisionOf(node, middle);
      if (isBefore(decision?.index ?? null, place)) low = middle;
      else high = middle - 1;
    }
    return low === 0 ? undefined : readBatch(this.#sources.store, node, low);
  }

  async #place(node: NodeId, seq: number): Promise<Place> {
    const batch = await readBatchOf(this.#sources.store, node, seq);
    const decision = batch && (await decisionNaming(this.#sources.decisionOf, batch));
    return { batch, index: decision?.index ?? null };
  }
}

function isBefore(index: number | null, place: number | null): index is number {
  return index !== null && (place === null || index < place);
}
