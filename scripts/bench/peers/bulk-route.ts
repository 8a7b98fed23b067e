import { decisionBodies } from '../decisions.ts';
import { type ClusterClient, member } from '../federation/cluster-client.ts';
import { BATCH_ROUTE } from '../http/round.ts';

/** Said in the place of figures of a node without the route. */
export const NO_BULK_ROUTE = 'no bulk route yet';

/**
 * The path of a node that takes many records in one request; null where its document lists none. Throws where the node lists
 * it and a request of so many records does not record each of them.
 */
export async function bulkRouteOf(client: ClusterClient, baseUrl: string, records: number): Promise<string | null> {
  const paths = member(await client.get(`${baseUrl}/openapi.json`), 'paths');
  if (member(member(paths, BATCH_ROUTE), 'post') === undefined) return null;
  const results = member(await client.post(baseUrl + BATCH_ROUTE, decisionBodies(records)), 'results');
  const made = Array.isArray(results) ? results.filter((one) => typeof member(one, 'attestationId') === 'string') : [];
  if (made.length !== records) throw new Error(`${BATCH_ROUTE} recorded ${made.length} of ${records} records`);
  return BATCH_ROUTE;
}
