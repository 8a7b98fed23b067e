import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';

/** Whether only `keyId` and `prev` differ, as where an envelope is signed anew (TRUST §2). */
export function isSignedAnew(first: Envelope, second: Envelope): boolean {
  const { keyId, prev } = first;
  return (
    keyId !== second.keyId && envelopeStatement.write({ ...second, keyId, prev }) === envelopeStatement.write(first)
  );
}

/** Whether two groups are of the same records and time, by whichever key. */
export function isSameGroup(first: Group, second: Group): boolean {
  return groupStatement.write({ ...second, keyId: first.keyId }) === groupStatement.write(first);
}
