import Type from 'typebox';
import { CHECKPOINTS_EXAMPLE, type CheckpointsAnswer, CheckpointsAnswerShape } from '../../../protocol/api/log.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { isNodeId } from '../../../protocol/ids.ts';
import { encodeEntries } from '../../../protocol/log/entries-tile.ts';
import { parseTilePath, TILE_NAME_PATTERN, type TileName, TilePathError } from '../../../protocol/log/tile-path.ts';
import { TILE_WIDTH } from '../../../protocol/merkle/tiles.ts';
import { NodeIdShape } from '../../../protocol/shapes.ts';
import type { CheckpointStore } from '../../log/checkpoint-store.ts';
import type { KnownCheckpoint } from '../../log/known-checkpoint.ts';
import type { FederationLog } from '../../log/federation-log.ts';
import { fieldProblem, Problem } from '../problem.ts';
import type { FreeRoute } from '../route.ts';

export interface LogRouteParts {
  readonly federationLog: Pick<FederationLog, 'size' | 'tile' | 'entries'>;
  readonly checkpointStore: Pick<CheckpointStore, 'all' | 'newest'>;
}

const OCTETS = 'application/octet-stream';
/** A tile never changes once it is there (C2SP tlog-tiles). */
const IMMUTABLE = { 'Content-Type': OCTETS, 'Cache-Control': 'public, max-age=31536000, immutable' };
const MAX_TILE_NAME = 48;

/** The federation's log as this node builds it from the ledger: its tiles, its entries, and who signed its head. */
export function logRoutes(parts: LogRouteParts): readonly FreeRoute[] {
  return [tileRoute(parts), checkpointsRoute(parts), memberCheckpointRoute(parts)];
}

/** `GET /v1/log/tile/…`: a tile of hashes, or of entries, in the layout of C2SP tlog-tiles. */
function tileRoute({ federationLog }: LogRouteParts): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/log/tile/*tile',
    access: 'free',
    documentation: {
      summary: "A tile of the federation's log",
      description:
        'In the layout of C2SP tlog-tiles: `<level>/<N>[.p/<W>]` holds 32-byte hashes, `entries/<N>[.p/<W>]` the texts ' +
        'of decisions, each after its length in two bytes. `N` is in groups of three digits: tile 1234 is `x001/234`. ' +
        'Anyone with a mirror of the ledger can build the same tiles.',
      params: {
        tile: {
          description: 'Name of the tile. Its slashes stand as they are.',
          shape: Type.String({ maxLength: MAX_TILE_NAME, pattern: TILE_NAME_PATTERN }),
          example: 'entries/000.p/1',
        },
      },
      answer: { contentType: OCTETS, example: '…' },
      problems: ['invalid-field', 'log-tile-not-found'],
    },
    async answer({ params }) {
      const tile = await readTile(federationLog, tileOf(params.tile ?? ''));
      if (tile === undefined) throw new Problem('log-tile-not-found', 'The log does not have this tile yet.');
      return { body: tile, headers: IMMUTABLE };
    },
  };
}

/** `GET /v1/log/checkpoints`: the newest checkpoint of each member that this node's own tree agrees with. */
function checkpointsRoute({ checkpointStore }: LogRouteParts): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/log/checkpoints',
    access: 'free',
    documentation: {
      summary: "Newest checkpoints of the federation's log",
      description: 'Of each member the newest whose root is that of the tree which this node built from the ledger.',
      answer: { shape: CheckpointsAnswerShape, example: CHECKPOINTS_EXAMPLE },
      problems: [],
    },
    async answer() {
      return { body: answerOf(checkpointStore.all()) };
    },
  };
}

/** `GET /v1/log/checkpoints/:node`: that of one member; none where this node has not counted one. */
function memberCheckpointRoute({ checkpointStore }: LogRouteParts): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/log/checkpoints/:node',
    access: 'free',
    documentation: {
      summary: 'Newest checkpoint of one member',
      params: { node: { description: 'Node id of a member, past or present.', shape: NodeIdShape, example: 'eu' } },
      answer: { shape: CheckpointsAnswerShape, example: CHECKPOINTS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ params: { node = '' } }) {
      if (!isNodeId(node)) throw fieldProblem('node', 'format', 'is no node id');
      const newest = checkpointStore.newest(node);
      return { body: answerOf(newest === undefined ? [] : [newest]) };
    },
  };
}

function answerOf(known: readonly KnownCheckpoint[]): CheckpointsAnswer {
  const inOrder = known.toSorted((a, b) => (a.checkpoint.node < b.checkpoint.node ? -1 : 1));
  return { success: true, checkpoints: inOrder.map(({ signed }) => signed) };
}

function tileOf(name: string): TileName {
  try {
    return parseTilePath(`tile/${name}`);
  } catch (error) {
    if (error instanceof TilePathError) throw fieldProblem('tile', 'format', 'is no name of a tile');
    throw error;
  }
}

/** Bytes of a tile; undefined where the log is not as large yet. */
async function readTile(
  log: LogRouteParts['federationLog'],
  { level, index, width }: TileName,
): Promise<Uint8Array | undefined> {
  if (level !== 'entries') return log.tile(level, index, width);
  const from = index * TILE_WIDTH;
  if (from + width > log.size) return undefined;
  return encodeEntries((await log.entries(from, width)).map(utf8));
}
