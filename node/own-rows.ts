import { OWN_PROJECTIONS } from './compliance/projections.ts';
import type { HashedRecord } from './federation/chain-assembler.ts';
import type { GovernanceRooms } from './governance-rooms.ts';
import { sourceHeadOperations, sourceRecordOperations } from './intake/sources.ts';
import type { Operation } from './store/operation.ts';

/** What this node derives from its own records, of records that it takes back from its peers. */
export async function rowsOfOwn(
  hashed: readonly HashedRecord[],
  { counters, again }: Pick<GovernanceRooms, 'again' | 'counters'>,
): Promise<readonly Operation[]> {
  const records = hashed.map(({ record }) => record);
  const counted = await counters.rowsOf(records);
  return [
    ...sourceRecordOperations(hashed),
    ...sourceHeadOperations(hashed),
    ...records.flatMap((record) => OWN_PROJECTIONS.flatMap(({ rowsOf }) => rowsOf(record))),
    ...counted,
    ...(await again(records)),
  ];
}
