import { hashText } from '../hash.ts';
import type { Suite } from '../suite/suite.ts';
import { checkAnchor } from './check-anchor.ts';
import type { OpenedProof } from './opened-proof.ts';
import type { Finding, FindingCode } from './verdict.ts';

/** Check 4: record, receipt, envelope, cosignatures, anchor and rosters all speak of the same thing. */
export function checkBinding(suite: Suite, opened: OpenedProof): readonly Finding[] {
  return [
    ...bindReceipt(opened),
    ...bindEnvelope(opened),
    ...bindCosignatures(suite, opened),
    ...checkAnchor(suite, opened),
  ];
}

function bindReceipt({ record, group }: OpenedProof): readonly Finding[] {
  if (record === null || group === null) return [];
  const findings: Finding[] = [];
  if (group.node !== record.node) findings.push(unbound('node-mismatch', 'the receipt is of another node'));
  if (record.seq < group.first || record.seq >= group.first + group.size) {
    findings.push(unbound('range-mismatch', 'the receipt does not cover the record'));
  }
  return findings;
}

function bindEnvelope({ group, envelope, rosters }: OpenedProof): readonly Finding[] {
  if (envelope === null || group === null) return [];
  const findings: Finding[] = [];
  if (envelope.node !== group.node) findings.push(unbound('node-mismatch', 'the batch is of another node'));
  if (group.first < envelope.first || group.first + group.size > envelope.first + envelope.size) {
    findings.push(unbound('range-mismatch', 'the batch does not cover the group'));
  }
  if ((envelope.batch === 1) !== (envelope.prev === null)) {
    findings.push(unbound('range-mismatch', 'only the first batch has no previous envelope'));
  }
  if (rosters === null) return findings;
  if (rosters.member(envelope.node) === undefined) {
    findings.push(unbound('node-mismatch', `no roster of the bundle names ${envelope.node}`));
  }
  return findings;
}

function bindCosignatures(suite: Suite, { proof, envelope, cosignatures, rosters }: OpenedProof): readonly Finding[] {
  if (cosignatures.length === 0) return [];
  if (proof.batch === null) return [unbound('cosignature-mismatch', 'cosignatures without a batch')];
  if (envelope === null) return [];
  const findings: Finding[] = [];
  const hash = hashText(suite, proof.batch.envelope);
  const witnesses = new Set<string>();
  for (const { value } of cosignatures) {
    if (value.node !== envelope.node || value.batch !== envelope.batch || value.envelope !== hash) {
      findings.push(unbound('cosignature-mismatch', `the cosignature of ${value.witness} is of another batch`));
    }
    if (witnesses.has(value.witness)) findings.push(unbound('cosignature-doubled', `${value.witness} cosigned twice`));
    witnesses.add(value.witness);
    const isMember = rosters === null || rosters.member(value.witness) !== undefined;
    if (!isMember || value.witness === envelope.node) {
      findings.push(unbound('witness-unknown', `${value.witness} may not witness this batch`));
    }
  }
  return findings;
}

function unbound(code: FindingCode, detail: string): Finding {
  return { check: 'bundleBinding', code, detail };
}
