import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { dueOperation } from '../accounts/statements/statement-tables.ts';
import { OWN_PROJECTIONS } from '../services/projections.ts';
import type { HashedRecord } from '../federation/chain-assembler.ts';
import type { GovernanceServices } from '../governance/governance-services.ts';
import { sourceIndexOperations } from '../records/sources/sources.ts';
import type { Operation } from '../store/operation.ts';

/** What this node derives from its own records, of records that it takes back from its peers. */
export async function rowsOfOwn(
  hashed: readonly HashedRecord[],
  { counters, again }: Pick<GovernanceServices, 'again' | 'counters'>,
): Promise<readonly Operation[]> {
  const records = hashed.map(({ record }) => record);
  const counted = await counters.rowsOf(records);
  return [
    ...sourceIndexOperations(hashed),
    ...records.flatMap((record) => OWN_PROJECTIONS.flatMap(({ rowsOf }) => rowsOf(record))),
    ...counted,
    ...records.flatMap(lookedAt),
    ...(await again.rowsOf(records)),
  ];
}

/**
 * Whether the rows of an account are those that its newest version was made of is looked at once the node has started.
 */
function lookedAt({ kind, account, node, submittedAt }: AttestationRecord): readonly Operation[] {
  const isVersion = kind === 'account' && homeOf(account) === node;
  return isVersion ? [dueOperation(account, 'taken-back', Date.parse(submittedAt))] : [];
}
