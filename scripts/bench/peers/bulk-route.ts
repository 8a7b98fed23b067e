import { decisionBodies } from '../decisions.ts';
import { type ClusterClient, member } from '../federation/cluster-client.ts';
import { BATCH_ROUTE } from '../http/round.ts';

/** Throws where a batch of so many records does not record each of them. */
export async function requireRecorded(client: ClusterClient, baseUrl: string, records: number): Promise<void> {
  const results = member(await client.post(baseUrl + BATCH_ROUTE, decisionBodies(records)), 'results');
  const made = Array.isArray(results) ? results.filter((one) => typeof member(one, 'attestationId') === 'string') : [];
  if (made.length !== records) throw new Error(`${BATCH_ROUTE} recorded ${made.length} of ${records} records`);
}
