import { leafHash } from '../../protocol/merkle/hash.ts';
import { decodeEntries, EntriesTileError } from '../../protocol/log/entries-tile.ts';
import { type TileName, tileWidth, writeTilePath } from '../../protocol/log/tile-path.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { HASH_BYTES, joinHashes, splitHashes, TILE_WIDTH } from '../../protocol/merkle/tiles.ts';
import { merkleRoot } from '../../protocol/merkle/tree.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { FederationLog } from '../../node/log/federation-log.ts';
import type { Alerts } from './alerts.ts';
import type { CheckpointWatch } from './checkpoint-watch.ts';
import type { KeptLog } from './kept-log.ts';
import { type PublicNode, PublicNodeError } from '../../node/federation/public-node.ts';
import type { StatementWatch } from './statement-watch.ts';
import type { WatchedNodes } from './watched-nodes.ts';

export interface TileWatchOptions {
  readonly log: FederationLog;
  readonly kept: KeptLog;
  readonly checkpoints: CheckpointWatch;
  readonly statements: StatementWatch;
  readonly nodes: WatchedNodes;
  readonly alerts: Alerts;
  readonly now: () => number;
  /** In [0, 1): which tile is asked for. A node that could foresee it would lie elsewhere. */
  readonly random: () => number;
}

/** Asks every node for tiles of the tree that it signed, and compares them with the monitor's own tree. */
export class TileWatch {
  readonly #options: TileWatchOptions;

  constructor(options: TileWatchOptions) {
    this.#options = options;
  }

  /** One tile of entries and one of hashes of each member's node. */
  async look(): Promise<void> {
    const { nodes, statements, checkpoints } = this.#options;
    for (const [member, { node }] of nodes.byMember(statements.roster.members)) {
      // It has at least the tree that it signed.
      const size = checkpoints.counted(member)?.checkpoint.size ?? 0;
      if (size === 0) continue;
      await nodes.ask(node, async () => {
        await this.#compare(node, this.#pick(size, 0, 'entries'));
        await this.#compare(node, this.#pick(size, this.#level(size), null));
      });
    }
  }

  /** Any tile of the tree of that size, the newest as often as all others together. */
  #pick(size: number, height: number, entries: 'entries' | null): TileName {
    const { random } = this.#options;
    const count = Math.ceil(Math.floor(size / TILE_WIDTH ** height) / TILE_WIDTH);
    const index = random() < 1 / 2 ? count - 1 : Math.floor(random() * count);
    return { level: entries ?? height, index, width: tileWidth(size, height, index) };
  }

  /** Any level at which a tree of that size has a tile. */
  #level(size: number): number {
    let levels = 1;
    while (size >= TILE_WIDTH ** levels) levels++;
    return Math.floor(this.#options.random() * levels);
  }

  async #compare(node: PublicNode, name: TileName): Promise<void> {
    const { alerts, now } = this.#options;
    const say = (what: string): void => alerts.see('tile-false', node.url, `${what} ${writeTilePath(name)}`, now());
    let tile: Uint8Array;
    try {
      tile = await node.tile(name);
    } catch (error) {
      if (!(error instanceof PublicNodeError) || error.code !== 'not-found') throw error;
      return say('lacks');
    }
    const hashes = name.level === 'entries' ? leavesOf(tile, name.width) : hashesOf(tile, name.width);
    if (hashes === null || !(await this.#isOwn(name, hashes))) say('shows another');
  }

  async #isOwn({ level, index, width }: TileName, hashes: readonly Uint8Array[]): Promise<boolean> {
    const { log, kept } = this.#options;
    const height = level === 'entries' ? 0 : level;
    const isTrimmed = height === 0 && index * TILE_WIDTH < kept.from;
    if (!isTrimmed) {
      const own = await log.tile(height, index, width);
      return own !== undefined && equalBytes(own, joinHashes(hashes));
    }
    // Of a tile that is trimmed the root stands in the one above it.
    const above = await log.tile(1, Math.floor(index / TILE_WIDTH), (index % TILE_WIDTH) + 1);
    return above !== undefined && equalBytes(above.subarray(-HASH_BYTES), merkleRoot(nativeSuite, hashes));
  }
}

function leavesOf(tile: Uint8Array, width: number): readonly Uint8Array[] | null {
  try {
    return decodeEntries(tile, width).map((entry) => leafHash(nativeSuite, entry));
  } catch (error) {
    if (error instanceof EntriesTileError) return null;
    throw error;
  }
}

function hashesOf(tile: Uint8Array, width: number): readonly Uint8Array[] | null {
  return tile.length === width * HASH_BYTES ? splitHashes(tile) : null;
}
