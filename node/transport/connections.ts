import type { Connection, PeerId } from '@libp2p/interface';
import type { MeridianNode } from './libp2p-node.ts';

/** Time a connection gets to close in peace before it is aborted, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;

/** The newest usable connection to a peer; null when there is none. */
export function openConnection(node: MeridianNode, peer: PeerId): Connection | null {
  const open = node.getConnections(peer).filter((connection) => connection.status === 'open');
  return open.reduce<Connection | null>(
    (newest, connection) => (newest === null || connection.timeline.open > newest.timeline.open ? connection : newest),
    null,
  );
}

/** Ends every connection to a peer, by force where closing takes too long. Never rejects. */
export async function hangUp(node: MeridianNode, peer: PeerId, reason: string): Promise<void> {
  await Promise.all(
    node.getConnections(peer).map(async (connection) => {
      try {
        await connection.close({ signal: AbortSignal.timeout(CLOSE_TIMEOUT) });
      } catch {
        connection.abort(new Error(reason));
      }
    }),
  );
}
