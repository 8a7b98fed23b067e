import type { Checkpoint } from '../../protocol/log/checkpoint.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import type { FederationKeys } from './members/federation-keys.ts';

/**
 * Whether no revocation that is in force takes a checkpoint along (protocol §5): by a compromised key none counts, by a
 * rotated one those that do not reach the revocation. A revocation whose text is not here may be of either kind.
 */
export function checkpointStands(
  { directory }: Pick<FederationKeys, 'directory'>,
  { revoked }: Pick<DecisionState, 'revoked'>,
  { node, keyId, size }: Checkpoint,
): boolean {
  const texts = directory.revocations(node, keyId);
  return (revoked[node]?.[keyId] ?? []).every(({ statement, index }) => {
    const known = texts.find(({ hash }) => hash === statement);
    return known?.revocation.reason === 'rotated' && size <= index;
  });
}

/** Identity keys that certified the key of a checkpoint: it counts within the rosters that name its node by one of them. */
export function identityKeysOf(
  { directory }: Pick<FederationKeys, 'directory'>,
  { node, keyId }: Checkpoint,
): readonly Base64url[] {
  return directory.certificates(node, keyId).map(({ identityKey }) => identityKey);
}
