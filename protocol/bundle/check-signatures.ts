import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { keyCovers } from '../keys/key-directory.ts';
import { cosignatureStatement } from '../statement/cosignature.ts';
import { envelopeStatement } from '../chain/envelope.ts';
import { groupStatement } from '../statement/group.ts';
import { signatureHolds, type SignedStatement, type StatementKind } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Timestamp } from '../time.ts';
import type { OpenedProof } from './opened-proof.ts';
import type { Finding, FindingCode } from './verdict.ts';

interface Signed<Value> {
  readonly kind: StatementKind<Value>;
  readonly signed: SignedStatement;
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  readonly at: Timestamp;
  /** First record that the statement is about; a cosignature is about none of its witness's own. */
  readonly first: number;
}

/**
 * Check 5: receipt, envelope and cosignatures are signed by keys that their nodes' identity keys certify, and that stood
 * when the ledger gave the batch its time. (Rosters, certificates and revocations were checked as they were opened.)
 */
export function checkSignatures(suite: Suite, opened: OpenedProof): readonly Finding[] {
  const { proof, group, envelope } = opened;
  const findings: Finding[] = [];
  if (group !== null) {
    const { statement, signature } = proof.receipt;
    const receipt = { kind: groupStatement, signed: { statement, signature }, at: group.signedAt };
    findings.push(
      ...checkSigned(suite, opened, { ...receipt, node: group.node, keyId: group.keyId, first: group.first }),
    );
  }
  if (envelope !== null && proof.batch !== null) {
    const signed = { statement: proof.batch.envelope, signature: proof.batch.signature };
    const { node, keyId, sealedAt: at, first } = envelope;
    findings.push(...checkSigned(suite, opened, { kind: envelopeStatement, signed, node, keyId, at, first }));
  }
  // Of a witness who cosigned twice `checkBinding` has said so: the others are not worth the work of a signature each.
  const cosignatures = new Map(opened.cosignatures.map((each) => [`${each.value.witness} ${each.value.keyId}`, each]));
  for (const { signed, value } of cosignatures.values()) {
    const { witness: node, keyId, at } = value;
    const first = Number.MAX_SAFE_INTEGER;
    findings.push(...checkSigned(suite, opened, { kind: cosignatureStatement, signed, node, keyId, at, first }));
  }
  return findings;
}

/** Witnesses whose cosignatures count towards the quorum: those by keys that nobody else may have held. */
export function countWitnesses({ keys, cosignatures }: OpenedProof): number {
  if (keys === null) return 0;
  return cosignatures.filter(({ value }) => keys.compromisedSince(value.witness, value.keyId) === null).length;
}

function checkSigned<Value>(suite: Suite, { keys, proof }: OpenedProof, claim: Signed<Value>): readonly Finding[] {
  if (keys === null) return [];
  const key = keys.get(claim.node, claim.keyId);
  const what = `the ${claim.kind.name} of ${claim.node}`;
  if (key === undefined) return [unsigned('key-unknown', `${what} is signed by a key without certificate`)];
  const findings: Finding[] = [];
  if (!keyCovers(key, claim.node, claim.at, claim.first)) {
    findings.push(unsigned('key-not-valid', `${what} is signed by a key not certified for it`));
  }
  if (!signatureHolds(suite, claim.kind, claim.signed, key.publicKey)) {
    findings.push(unsigned('signature-invalid', `the signature of ${what} does not hold`));
  }
  const isWitness = claim.first === Number.MAX_SAFE_INTEGER;
  if (!isWitness && !keys.standsAt(claim.node, claim.keyId, proof.anchor?.consensusTimestamp ?? null)) {
    findings.push(unsigned('key-revoked', `${what} reached consensus after its key was compromised`));
  }
  return findings;
}

function unsigned(code: FindingCode, detail: string): Finding {
  return { check: 'sigValid', code, detail };
}
