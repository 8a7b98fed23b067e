import { isAccountVersion, isMadeElsewhere } from '../../protocol/accounts/speaker.ts';
import { encodeBase64url } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { parseText } from '../../protocol/json/text.ts';
import { isBase64url } from '../../protocol/statement/statement.ts';
import {
  type Bundle,
  BUNDLE_FORMAT,
  type DecisionProof,
  type LinkedProof,
  type PublicProof,
} from '../../protocol/verdict/bundle.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import type { OpenedPayload } from '../records/payload/payload-cipher.ts';
import type { Evidence } from './evidence.ts';
import {
  coveringNeed,
  type FederationProofSources,
  placeDecision,
  proveFederation,
  type WithinRoster,
} from './federation-proof.ts';
import { certificatesOf, keysSigning } from './signing-keys.ts';

/** What a bundle may hold beside the proof of its record. */
export interface BundleExtras {
  readonly disclosed?: OpenedPayload;
  /** Evidence about records that the evidence rules read beside this one. */
  readonly linked?: readonly Evidence[];
}

/** The whole file that proves a record offline, as far as it can be proved by now. Throws `LogDamagedError`. */
export async function completeBundle(
  sources: FederationProofSources,
  evidence: Evidence,
  { disclosed, linked }: BundleExtras = {},
): Promise<Bundle> {
  const all = [evidence, ...(linked ?? [])];
  const { record, batch, decision: of } = evidence;
  const subject = batch && of && { node: record.node, batch: batch.envelope.batch, decision: of };
  const signing = keysSigning(all.map(({ proof }) => proof));
  const federation = await proveFederation(sources, subject ? [subject] : [], signing, placesOf(linked ?? []));
  const decisions = new Map<string, DecisionProof>();
  for (const { proof, decision } of all) {
    if (proof.batch === null || decision === null || decisions.has(proof.batch.envelope)) continue;
    decisions.set(proof.batch.envelope, await placeDecision(sources.federationLog, decision, federation.sizes));
  }
  return {
    format: BUNDLE_FORMAT,
    ...evidence.proof,
    decision: decisionOf(evidence, decisions) ?? null,
    ...federation.statements,
    ...(disclosed === undefined ? {} : { disclosure: disclosureOf(disclosed) }),
    ...(linked === undefined ? {} : { linked: linkedProofs(evidence, linked, decisions) }),
  };
}

/** The same for anyone who has no more than the id: it shows the head of the record, and no body. */
export async function publicProof(sources: FederationProofSources, evidence: Evidence): Promise<PublicProof> {
  const { record, receipt, batch, decision, checkpoints, keys, revocations, rosters } = await completeBundle(
    sources,
    evidence,
  );
  return {
    format: BUNDLE_FORMAT,
    record: { head: record.head, body: null },
    receipt,
    batch,
    decision,
    checkpoints,
    keys,
    revocations,
    rosters,
  };
}

/**
 * What one node tells another of a record that is too young to have come round: what its own node signed, and nothing
 * of the log, which every node reads itself.
 */
export function youngBundle(
  { keys }: { readonly keys: Pick<FederationKeys, 'directory' | 'rosters'> },
  { proof }: Evidence,
): Bundle {
  const { statement } = keys.rosters.signedGenesis;
  return {
    format: BUNDLE_FORMAT,
    ...proof,
    decision: null,
    checkpoints: [],
    keys: certificatesOf(keys, keysSigning([proof])),
    revocations: [],
    rosters: [{ text: statement, decision: null }],
  };
}

/** Salt and payload in the form that a bundle discloses them in. */
export function disclosureOf({ salt, text }: OpenedPayload): NonNullable<Bundle['disclosure']> {
  const encoded = encodeBase64url(salt);
  if (!isBase64url(encoded)) throw new RangeError('an empty salt');
  const payload = parseText(text);
  return { salt: encoded, payload };
}

/**
 * Versions of statements, and what was made elsewhere, are read in the order of their decisions: a bundle proves where
 * these stand.
 */
function placesOf(linked: readonly Evidence[]): WithinRoster {
  const last = new Map<NodeId, number>();
  for (const { record, decision } of linked) {
    if (decision === null || !(isMadeElsewhere(record) || isAccountVersion(record))) continue;
    last.set(record.node, Math.max(decision.index, last.get(record.node) ?? 0));
  }
  return (roster) => [...last].map(([node, index]) => coveringNeed(roster, node, index));
}

function decisionOf({ proof }: Evidence, decisions: ReadonlyMap<string, DecisionProof>): DecisionProof | undefined {
  return proof.batch === null ? undefined : decisions.get(proof.batch.envelope);
}

/** A signature, or a decision, is left out where the same text stands before. */
function linkedProofs(
  subject: Evidence,
  linked: readonly Evidence[],
  decisions: ReadonlyMap<string, DecisionProof>,
): LinkedProof[] {
  const said = new Set<string>();
  const isNew = (text: string): boolean => !said.has(text) && said.add(text).has(text);
  isNew(subject.proof.receipt.statement);
  if (subject.proof.batch !== null) isNew(subject.proof.batch.envelope);
  return linked.map((evidence) => {
    const { record, receipt, batch } = evidence.proof;
    const proof: LinkedProof = {
      record,
      receipt: isNew(receipt.statement) ? receipt : { statement: receipt.statement, path: receipt.path },
      batch,
    };
    if (batch === null) return proof;
    if (!isNew(batch.envelope)) return { ...proof, batch: { envelope: batch.envelope, path: batch.path } };
    return { ...proof, decision: decisionOf(evidence, decisions) ?? null };
  });
}
