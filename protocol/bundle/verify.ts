import type { Sha256Hash } from '../hash.ts';
import type { Suite } from '../suite/suite.ts';
import type { Bundle } from './bundle.ts';
import { checkBinding } from './check-binding.ts';
import { checkPayload } from './check-payload.ts';
import { checkSignatures, countWitnesses } from './check-signatures.ts';
import { checkWalk } from './check-walk.ts';
import { type OpenedBundle, openBundle } from './opened-bundle.ts';
import type { AnchoringStatus, Check, Checks, Finding, Verdict } from './verdict.ts';

export interface VerifyOptions {
  /** Hash of the genesis roster that the verifier trusts. Without it a bundle is only consistent with itself. */
  readonly pin?: Sha256Hash;
}

/**
 * The five checks on a bundle, with no network: leaf, payload, proofs, binding, signatures. Every fault is named in
 * `problems`; nothing is thrown. A check is true only where all that it needs was there and held.
 */
export function verifyBundle(suite: Suite, bundle: Bundle, options: VerifyOptions = {}): Verdict {
  return judge(suite, openBundle(suite, bundle), options);
}

/** The five checks on a bundle already opened. */
export function judge(suite: Suite, opened: OpenedBundle, options: VerifyOptions = {}): Verdict {
  const { bundle } = opened;
  const problems = [
    ...opened.findings,
    ...checkPayload(suite, opened),
    ...checkWalk(suite, opened),
    ...checkBinding(suite, opened),
    ...checkSignatures(suite, opened),
    ...checkPin(opened, options.pin),
  ];
  const checks = summarise(opened, problems);
  const { record, rosters, envelope } = opened;
  const roster = envelope === null ? undefined : rosters?.version(envelope.roster);
  const holds = checks.leafRederived && checks.proofWalk && checks.bundleBinding && checks.sigValid;
  return {
    verified: holds && bundle.anchor !== null && (checks.payloadHashMatch || bundle.disclosure === undefined),
    witnessed: holds && roster !== undefined && countWitnesses(opened) >= roster.quorum,
    checks,
    payloadState: bundle.disclosure === undefined ? 'withheld' : 'available',
    status: statusOf(opened, checks),
    problems,
    record: record && { id: record.id, kind: record.kind, node: record.node, submittedAt: record.submittedAt },
    federation: rosters?.genesis ?? null,
    pinned: options.pin !== undefined && rosters?.genesis === options.pin,
  };
}

function checkPin({ rosters }: OpenedBundle, pin: Sha256Hash | undefined): readonly Finding[] {
  if (pin === undefined || rosters === null || rosters.genesis === pin) return [];
  const detail = `the bundle is of federation ${rosters.genesis}, not ${pin}`;
  return [{ check: 'bundleBinding', code: 'federation-mismatch', detail }];
}

function summarise(opened: OpenedBundle, problems: readonly Finding[]): Checks {
  const clean = (check: Check) => problems.every((problem) => problem.check !== check);
  const { record, group, rosters, bundle } = opened;
  const batchRead = bundle.batch === null || opened.envelope !== null;
  return {
    leafRederived: record !== null && clean('leafRederived'),
    payloadHashMatch: record !== null && bundle.disclosure !== undefined && clean('payloadHashMatch'),
    proofWalk: record !== null && group !== null && batchRead && clean('proofWalk'),
    bundleBinding: record !== null && group !== null && rosters !== null && clean('bundleBinding'),
    sigValid: group !== null && batchRead && rosters !== null && clean('sigValid'),
  };
}

/** An anchor that does not bind to the batch confirms nothing. */
function statusOf({ bundle, record }: OpenedBundle, checks: Checks): AnchoringStatus {
  if (bundle.anchor !== null && checks.bundleBinding) return 'confirmed';
  return record?.claims.channel === 'tiered' ? 'buffered' : 'pending';
}
