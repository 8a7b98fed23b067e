import { join } from 'node:path';
import { readClusterEnvironment } from '../../cluster/environment.ts';
import { readClusterFile } from '../../cluster/supervisor/cluster-file.ts';
import { UsageError } from '../../node/config/command-line.ts';

/** A running node, by the socket in its home. */
export interface Target {
  readonly node: string;
  readonly socket: string;
}

const SOCKET = 'operator.sock';

/**
 * The node of a home, or those of the local cluster that were named; without a name all of them. Throws `UsageError`.
 */
export async function findTargets(home: string | undefined, names: readonly string[]): Promise<readonly Target[]> {
  if (home !== undefined) return [{ node: home, socket: join(home, SOCKET) }];
  const cluster = readClusterEnvironment().home;
  const { nodes } = await readClusterFile(cluster).catch(() => {
    throw new UsageError(`there is no local cluster in ${cluster}; --home names the home of a node`);
  });
  const stray = names.find((name) => !nodes.some(({ id }) => id === name));
  if (stray !== undefined) throw new UsageError(`the local cluster has no node ${stray}`);
  return nodes
    .filter(({ id }) => names.length === 0 || names.includes(id))
    .map(({ id }) => ({ node: id, socket: join(cluster, id, SOCKET) }));
}
