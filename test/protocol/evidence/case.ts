import { CLAUSES, evaluate, type Clause, type Evaluation } from '../../../protocol/evidence/rules.ts';
import type { LinkedRecord } from '../../../protocol/evidence/linked-record.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { PSEUDONYM_PATTERN } from '../../../protocol/chain/asserted.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { RecordChain, type RecordDraft } from '../../fixtures/federation-record.ts';

const START_MS = Date.UTC(2026, 10, 21);

export const EU = nodeId('eu');
export const US = nodeId('us');
export const AT = timestampOf(START_MS + 3_600_000);

const chains = new Map<NodeId, RecordChain>();

/** A record made by `node`, `seconds` after the hour. Its claims are these alone and the hashes of its data. */
export function made(draft: RecordDraft, seconds = 10, node: NodeId = EU): AttestationRecord {
  const chain = chains.get(node) ?? new RecordChain('evidence', node);
  chains.set(node, chain);
  const { record } = chain.append(draft, timestampOf(START_MS + 1000 * seconds));
  const { modelId: _, ...claims } = record.claims;
  return { ...record, claims: { ...claims, ...draft.claims } };
}

/** The pseudonym of a reviewer, by a letter from a to f. */
export function reviewer(letter: string): string {
  const pseudonym = `hmac-sha256:${letter.repeat(64)}`;
  if (!new RegExp(PSEUDONYM_PATTERN).test(pseudonym)) throw new RangeError(`${letter} makes no pseudonym`);
  return pseudonym;
}

export function overrideOf(
  { id }: AttestationRecord,
  claims: Partial<Claims> = {},
  more: Partial<RecordDraft> = {},
  node: NodeId = EU,
): AttestationRecord {
  const said = { reviewer: reviewer('a'), reviewOutcome: 'confirmed', ...claims } as const;
  return made({ kind: 'human_override', links: { original: id }, claims: said, ...more }, 20, node);
}

export function holding(...records: readonly AttestationRecord[]): LinkedRecord[] {
  return records.map((record) => ({ record, holds: true, speaks: true }));
}

export function evaluated(
  record: AttestationRecord,
  linked: readonly AttestationRecord[] = [],
  sigValid = true,
): Evaluation {
  return evaluate({ record, sigValid, speaks: true }, holding(...linked), AT);
}

/** The clauses that are shown. */
export function shown(evaluation: Evaluation): Clause[] {
  return CLAUSES.filter((clause) => shows(evaluation, clause));
}

export function shows({ complianceDetail, complianceStatus }: Evaluation, clause: Clause): boolean {
  const flags: Readonly<Record<Clause, boolean>> = {
    article12_1: complianceStatus.article12_1,
    article12_2: complianceStatus.article12_2,
    article12_3a: complianceDetail.article12_3a,
    article12_3b: complianceStatus.article12_3b,
    article12_3c: complianceDetail.article12_3c,
    article12_3d: complianceDetail.article12_3d,
    article14: complianceStatus.article14,
    article14_5: complianceDetail.article14_5,
  };
  return flags[clause];
}

/** What a clause lacks. */
export function lacks({ complianceDetail }: Evaluation, clause: Clause): readonly string[] {
  return complianceDetail.reasons.find(({ key }) => key === clause)?.missing ?? ['no reason'];
}
