import type { LocalCluster } from '../local-cluster.ts';
import { type ClusterClient, member } from './cluster-client.ts';

/** Records of node `origin` in sealed batches, as the node at `baseUrl` holds them. */
export async function sealedRecords(client: ClusterClient, baseUrl: string, origin: string): Promise<number> {
  const members = member(await client.get(`${baseUrl}/v1/federation`), 'members');
  const entry: unknown = Array.isArray(members)
    ? members.find((candidate: unknown) => member(candidate, 'node') === origin)
    : undefined;
  const records = member(member(entry, 'head'), 'records');
  if (typeof records !== 'number') throw new Error(`${baseUrl} says nothing of ${origin}`);
  return records;
}

/** Whether every node holds at least `records` of node `origin` in sealed batches. */
export async function allHold(
  client: ClusterClient,
  { plan }: LocalCluster,
  origin: string,
  records: number,
): Promise<boolean> {
  const held = await Promise.all(plan.nodes.map(({ baseUrl }) => sealedRecords(client, baseUrl, origin)));
  return held.every((number) => number >= records);
}
