import type { Bundle, Proof } from '../../protocol/bundle/bundle.ts';
import { encodeBase64url } from '../../protocol/bytes.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { parseText } from '../../protocol/json/text.ts';
import { isBase64url } from '../../protocol/statement/statement.ts';
import { cosignatureStatement } from '../../protocol/statement/cosignature.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import type { OpenedPayload } from '../payload/payload-vault.ts';
import { bareProof, type Evidence } from './evidence.ts';

/** What a bundle may hold beside the proof of its record. */
export interface BundleExtras {
  readonly disclosed?: OpenedPayload;
  /** Evidence about records that the evidence rules read beside this one. */
  readonly linked?: readonly Evidence[];
}

/** The whole file that proves a record offline: the evidence with every key, revocation and roster it stands on. */
export function completeBundle(evidence: Evidence, keys: FederationKeys, extras: BundleExtras = {}): Bundle {
  const { disclosed, linked } = extras;
  const proofs = linked?.map(({ bundle }) => bareProof(bundle));
  const named = keysNamedBy([evidence.bundle, ...(proofs ?? [])]);
  const certified = named.flatMap(({ node, keyId }) => keys.directory.get(node, keyId) ?? []);
  return {
    ...evidence.bundle,
    keys: certified.map((key) => key.signed),
    revocations: certified.flatMap(
      ({ certificate }) => keys.directory.revocation(certificate.node, certificate.keyId)?.signed ?? [],
    ),
    rosters: [...keys.rosters.signed],
    ...(disclosed === undefined ? {} : { disclosure: disclosureOf(disclosed) }),
    ...(proofs === undefined ? {} : { linked: proofs }),
  };
}

/** Salt and payload in the form that a bundle discloses them in. */
export function disclosureOf({ salt, text }: OpenedPayload): NonNullable<Bundle['disclosure']> {
  const encoded = encodeBase64url(salt);
  if (!isBase64url(encoded)) throw new RangeError('an empty salt');
  const payload = parseText(text);
  return { salt: encoded, payload };
}

/** The keys that signed something in the proofs, each once. */
function keysNamedBy(proofs: readonly Proof[]): readonly { node: NodeId; keyId: Sha256Hash }[] {
  const named = new Map<string, { node: NodeId; keyId: Sha256Hash }>();
  const add = (node: NodeId, keyId: Sha256Hash) => named.set(`${node} ${keyId}`, { node, keyId });
  for (const { receipt, batch, cosignatures } of proofs) {
    const group = groupStatement.parse(receipt.statement);
    add(group.node, group.keyId);
    if (batch !== null) {
      const envelope = envelopeStatement.parse(batch.envelope);
      add(envelope.node, envelope.keyId);
    }
    for (const { statement } of cosignatures) {
      const { witness, keyId } = cosignatureStatement.parse(statement);
      add(witness, keyId);
    }
  }
  return [...named.values()];
}
