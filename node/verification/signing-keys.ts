import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';

/** A key, and the node that signs by it. */
export interface NodeKey {
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
}

/** The texts of a proof that name the keys which signed them. */
interface SignedTexts {
  readonly receipt: { readonly statement: string };
  readonly batch: { readonly envelope: string } | null;
}

/** The keys that signed the receipts and envelopes of proofs. */
export function keysSigning(proofs: readonly SignedTexts[]): readonly NodeKey[] {
  return proofs.flatMap(({ receipt, batch }) => [
    groupStatement.parse(receipt.statement),
    ...(batch === null ? [] : [envelopeStatement.parse(batch.envelope)]),
  ]);
}

/** The certificates of keys, each once, as far as this node knows them. */
export function certificatesOf(
  { directory }: Pick<FederationKeys, 'directory'>,
  keys: readonly NodeKey[],
): SignedStatement[] {
  const known = keys.flatMap(({ node, keyId }) => directory.certificates(node, keyId).map(({ signed }) => signed));
  return [...new Set(known)];
}
