import { complianceStatus } from '../../../protocol/evidence/rules.ts';
import { hashText } from '../../../protocol/hash.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { timestampOfConsensus } from '../../../protocol/time.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { RecordVerdict, Verifier } from '../../verification/verifier.ts';
import type { FreeRoute } from '../route.ts';
import { recordNotFound, recordParameter } from './record-parameter.ts';

const SECURITY_LEVEL = 'ML-DSA-65';
const SOURCE = 'merkle-forest';

/** `GET /v1/verify/:id` (SPEC §2.3): free, for anyone. Carries the field sets of direct and tiered records alike. */
export function verifyRoute(verifier: Pick<Verifier, 'verifyRecord'>, topic: string): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/verify/:id',
    access: 'free',
    async answer({ params }) {
      const id = recordParameter(params);
      const verdict = await verifier.verifyRecord(id);
      if (verdict === undefined) throw recordNotFound(id);
      return { body: verifyAnswer(verdict, topic), headers: { 'Cache-Control': 'no-store' } };
    },
  };
}

/** Names no person and shows no payload: the hash of the source id stands for it. */
function verifyAnswer(verdict: RecordVerdict, topic: string): JsonObject {
  const { evidence, verified, checks, status, payloadState } = verdict;
  const { record, bundle } = evidence;
  const confirmed = status === 'confirmed' ? bundle.anchor : null;
  return {
    found: true,
    verified,
    sigValid: checks.sigValid,
    attestationId: record.id,
    seqNum: confirmed === null ? null : Number(confirmed.sequence),
    securityLevel: SECURITY_LEVEL,
    confirmedAt: confirmed === null ? null : timestampOfConsensus(confirmed.consensusTimestamp),
    complianceStatus: { ...complianceStatus(record, checks.sigValid && checks.leafRederived) },
    source: SOURCE,
    status,
    hcsSequence: confirmed?.sequence ?? null,
    cryptoVerification: { verified, checks: { ...checks } },
    witnessed: verdict.witnessed,
    payloadState,
    ...(payloadState === 'erased' ? { verifiedScope: 'record-only' } : {}),
    submittedAt: record.submittedAt,
    sourceIdHash: hashText(nativeSuite, record.sourceId),
    recordKind: record.kind,
    node: record.node,
    keyId: groupStatement.parse(bundle.receipt.statement).keyId,
    topic,
    ledger: confirmed?.network ?? null,
    consensusTimestamp: confirmed?.consensusTimestamp ?? null,
    links: { overrides: 0, incidents: 0, session: record.links.session !== undefined },
    problems: verdict.problems.map(({ check, code, detail }) => ({ check, code, detail })),
  };
}
