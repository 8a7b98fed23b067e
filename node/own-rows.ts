import { OWN_PROJECTIONS } from './compliance/projections.ts';
import type { HashedRecord } from './federation/chain-assembler.ts';
import type { GovernanceRooms } from './governance-rooms.ts';
import { sourceIndexOperations } from './intake/sources.ts';
import type { RecordCounter } from './records/record-counter.ts';
import type { Operation } from './store/operation.ts';

/** What this node derives from its own records, of records that it takes back from its peers. */
export async function rowsOfOwn(
  hashed: readonly HashedRecord[],
  counters: readonly RecordCounter[],
  { again }: Pick<GovernanceRooms, 'again'>,
): Promise<readonly Operation[]> {
  const records = hashed.map(({ record }) => record);
  for (const counter of counters) {
    counter.forget();
    await counter.load(records);
  }
  return [
    ...sourceIndexOperations(hashed),
    ...records.flatMap((record) => OWN_PROJECTIONS.flatMap(({ rowsOf }) => rowsOf(record))),
    ...counters.flatMap((counter) => [...counter.operations(records)].flat()),
    ...(await again(records)),
  ];
}
