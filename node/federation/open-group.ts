import type { Envelope } from '../../protocol/chain/envelope.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import { openStatement } from '../log/members/statement-check.ts';

/**
 * Reads a group that a peer serves under an envelope: it is by the envelope's own key, so that no receipt falls or stands
 * apart from its batch. Throws `PeerStatementError`.
 */
export function openGroup(
  keys: Pick<FederationKeys, 'rosters' | 'directory'>,
  signed: SignedStatement,
  envelope: Pick<Envelope, 'keyId'>,
): Group {
  const group = openStatement(keys, groupStatement, signed, ({ node, keyId, first }) => ({ node, keyId, first }));
  if (group.keyId !== envelope.keyId) {
    throw new PeerStatementError('malformed', `group ${group.node}/${group.first} is by another key than its batch`);
  }
  return group;
}
