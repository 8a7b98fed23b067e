import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { type SignedStatement, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';

/** A group's statement, read and signed. */
export interface GroupAnew {
  readonly group: Group;
  readonly signed: SignedStatement;
}

/** The same group by this key, of which nothing else changes; null where it is by this key already. */
export async function groupAnew(held: SignedStatement, signer: Signer): Promise<GroupAnew | null> {
  const before = groupStatement.parse(held.statement);
  if (before.keyId === signer.keyId) return null;
  const group = { ...before, keyId: signer.keyId };
  return { group, signed: await signStatement(groupStatement, group, signer) };
}
