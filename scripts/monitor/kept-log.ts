import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import { TILE_WIDTH } from '../../protocol/merkle/tiles.ts';
import type { FederationLog } from '../../node/log/federation-log.ts';
import { decidedBatchTable, logEntryTable, logTileTable } from '../../node/log/log-tables.ts';
import type { Operation } from '../../node/store/operation.ts';
import type { Rows } from '../../node/store/store.ts';

/**
 * Decisions on batches that are kept as texts: almost a day of a hundred members that seal every 15 seconds. Of all
 * before them the tree's upper levels stay, an eighth of a byte a decision, which every tile of a node can be held
 * against, and all that put rosters and revocations in force.
 */
const KEPT_DECISIONS = 1 << 19;
/** Decisions of one write. A multiple of a tile. */
const TRIM_STEP = 4 * TILE_WIDTH;

export interface KeptLogOptions {
  readonly rows: Rows;
  readonly log: FederationLog;
  /** Decisions before this one are trimmed. */
  readonly trimmed: number;
  readonly kept?: number;
}

/** A batch that the log decided. */
export interface DecidedBatch {
  readonly envelope: Sha256Hash;
  readonly keyId: Sha256Hash;
  readonly decision: Decision;
}

/** The newest part of the log: what is older is trimmed, so that the monitor's disk is bounded. */
export class KeptLog {
  readonly #rows: Rows;
  readonly #log: FederationLog;
  readonly #kept: number;
  #trimmed: number;

  constructor({ rows, log, trimmed, kept = KEPT_DECISIONS }: KeptLogOptions) {
    this.#rows = rows;
    this.#log = log;
    this.#trimmed = trimmed;
    this.#kept = kept;
  }

  /** The first decision whose text is kept. Trees of this size and larger ones can be compared. */
  get from(): number {
    return this.#trimmed;
  }

  /** Most decisions that the chains may lie behind the log, all together, before it waits for them. */
  get patience(): number {
    return this.#kept / 2;
  }

  async decision(index: number): Promise<Decision | undefined> {
    return index < this.#trimmed ? undefined : (await this.#log.decision(index))?.decision;
  }

  /** The decision of a batch; undefined where there is none, or it is trimmed. */
  async batch(node: NodeId, batch: number): Promise<DecidedBatch | undefined> {
    const logged = await this.#log.keptBatch(node, batch);
    if (logged === undefined || logged.decision.index < this.#trimmed) return undefined;
    const { named, decision } = logged;
    return { envelope: named.envelope, keyId: named.keyId, decision };
  }

  /** The first batch of a node whose decision is kept; null where none is. */
  async firstBatch(node: NodeId): Promise<number | null> {
    for await (const [[batch]] of decidedBatchTable.under(this.#rows, [node], { limit: 1 })) return Number(batch);
    return null;
  }

  /** Drops what is older than is kept. Crash order: what a crash left is dropped by the next call. */
  async trim(): Promise<void> {
    while (this.#log.size - this.#trimmed >= this.#kept + TRIM_STEP) {
      const end = this.#trimmed + TRIM_STEP;
      const gone: Operation[] = [];
      for (let from = this.#trimmed; from < end; from += TILE_WIDTH) gone.push(...(await this.#batchesFrom(from)));
      await this.#rows.write(gone);
      this.#trimmed = end;
    }
  }

  /** What may go of a tile's decisions: those on batches, and the tile itself where there are no others. */
  async #batchesFrom(from: number): Promise<readonly Operation[]> {
    const gone: Operation[] = [];
    let others = 0;
    for (let index = from; index < from + TILE_WIDTH; index++) {
      const named = (await this.#log.decision(index))?.named;
      if (named?.type === 'batch') gone.push(decidedBatchTable.del(named.node, named.batch), logEntryTable.del(index));
      else if (named !== undefined) others++;
    }
    return others > 0 ? gone : [...gone, logTileTable.del(0, from / TILE_WIDTH)];
  }
}
