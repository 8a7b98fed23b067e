import { checkAgent } from '../evidence/agent.ts';
import { evaluate } from '../evidence/rules.ts';
import type { Sha256Hash } from '../hash.ts';
import { neededWitnesses } from '../log/roster.ts';
import type { SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Timestamp } from '../time.ts';
import type { Bundle } from './bundle.ts';
import { checkBinding } from './check-binding.ts';
import { checkPayload } from './check-payload.ts';
import { checkPin } from './check-pin.ts';
import { checkSignatures, countWitnesses } from './check-signatures.ts';
import { checkWalk } from './check-walk.ts';
import { type JudgedLinked, judgeLinked, linkedRecords } from './judge-linked.ts';
import { type OpenedBundle, openBundle } from './opened-bundle.ts';
import type { AnchoringStatus, Check, Checks, Finding, Verdict } from './verdict.ts';

export interface VerifyOptions {
  /** Hash of the genesis roster that the verifier trusts. Without it a bundle is only consistent with itself. */
  readonly pin?: Sha256Hash;
  /** Revocations that the verifier knows of, beside those that the bundle carries. */
  readonly revocations?: readonly SignedStatement[];
  /** When the evidence is evaluated, for the verdict to say so. */
  readonly at?: Timestamp;
}

/**
 * The five checks on a bundle, with no network: leaf, payload, proofs, binding, signatures; then the evidence rules over
 * its record and the linked ones that hold. Every fault is named in `problems`; nothing is thrown. A check is true only
 * where all that it needs was there and held.
 */
export function verifyBundle(suite: Suite, bundle: Bundle, options: VerifyOptions = {}): Verdict {
  const { revocations = [] } = options;
  const opened = openBundle(suite, bundle, { revocations });
  const linked = (bundle.linked ?? []).map((proof) => judgeLinked(suite, proof, opened, options.pin));
  return judge(suite, opened, linked, options);
}

/** The five checks on a bundle already opened, and the evidence rules with linked records already judged. */
export function judge(
  suite: Suite,
  opened: OpenedBundle,
  linked: readonly JudgedLinked[],
  options: VerifyOptions = {},
): Verdict {
  const { bundle, record, rosters, envelope } = opened;
  const problems = [
    ...opened.findings,
    ...checkPayload(suite, opened),
    ...checkWalk(suite, opened),
    ...checkBinding(suite, opened),
    ...checkSignatures(suite, opened),
    ...checkPin(opened, options.pin),
  ];
  const checks = summarise(opened, problems);
  const roster = envelope === null ? undefined : rosters?.lastWith(envelope.node);
  const holds = checks.leafRederived && checks.proofWalk && checks.bundleBinding && checks.sigValid;
  const others = linkedRecords(linked);
  return {
    // No linked record has a say in any of these.
    verified: holds && bundle.anchor !== null && (checks.payloadHashMatch || bundle.disclosure === undefined),
    witnessed: holds && roster !== undefined && countWitnesses(opened) >= neededWitnesses(roster),
    checks,
    payloadState: bundle.disclosure === undefined ? 'withheld' : 'available',
    status: statusOf(opened, checks),
    problems,
    record: record && { id: record.id, kind: record.kind, node: record.node, submittedAt: record.submittedAt },
    federation: rosters?.genesis ?? null,
    pinned: options.pin !== undefined && rosters?.genesis === options.pin,
    linked: linked.map(({ verdict }) => verdict),
    ...evaluate({ record, sigValid: holds }, others, options.at ?? null),
    // A record that does not hold is nobody's.
    agent: record !== null && holds ? checkAgent(suite, record, others) : null,
  };
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
