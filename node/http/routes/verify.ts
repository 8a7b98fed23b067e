import type { Logger } from 'pino';
import { CHECKS } from '../../../protocol/bundle/verdict.ts';
import { complianceStatus } from '../../../protocol/evidence/rules.ts';
import { hashText } from '../../../protocol/hash.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { timestampOfConsensus } from '../../../protocol/time.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { nodeOfRecord, type RecordId } from '../../../protocol/ids.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { EvidenceDamagedError } from '../../verification/evidence.ts';
import type { RecordVerdict, Verifier } from '../../verification/verifier.ts';
import type { FreeRoute } from '../route.ts';
import { recordNotFound, recordParameter } from './record-parameter.ts';

const SECURITY_LEVEL = 'ML-DSA-65';
const SOURCE = 'merkle-forest';

/** `GET /v1/verify/:id` (SPEC §2.3): free, for anyone. Carries the field sets of direct and tiered records alike. */
export function verifyRoute(verifier: Pick<Verifier, 'verifyRecord'>, topic: string, log: Logger): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/verify/:id',
    access: 'free',
    async answer({ params }) {
      const id = recordParameter(params);
      const headers = { 'Cache-Control': 'no-store' };
      try {
        const verdict = await verifier.verifyRecord(id);
        if (verdict === undefined) throw recordNotFound(id);
        return { body: verifyAnswer(verdict, topic), headers };
      } catch (error) {
        if (!(error instanceof EvidenceDamagedError)) throw error;
        log.error({ err: error, id }, 'stored evidence is damaged');
        return { body: damagedAnswer(id, topic), headers };
      }
    },
  };
}

/** Names no person and shows no payload: the hash of the source id stands for it. */
function verifyAnswer(verdict: RecordVerdict, topic: string): JsonObject {
  const { evidence, verified, checks, status, payloadState } = verdict;
  const { record, bundle } = evidence;
  const confirmed = status === 'confirmed' ? bundle.anchor : null;
  // Flags speak of the record only where the signature is over this very record.
  const isSigned = checks.sigValid && checks.leafRederived && checks.proofWalk && checks.bundleBinding;
  return {
    found: true,
    verified,
    sigValid: checks.sigValid,
    attestationId: record.id,
    seqNum: confirmed === null ? null : Number(confirmed.sequence),
    securityLevel: SECURITY_LEVEL,
    confirmedAt: confirmed === null ? null : timestampOfConsensus(confirmed.consensusTimestamp),
    complianceStatus: { ...complianceStatus(record, isSigned) },
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

/** What was recorded under the id is there and cannot be read any more: nothing about it is shown to be true. */
function damagedAnswer(id: RecordId, topic: string): JsonObject {
  return {
    found: true,
    verified: false,
    sigValid: false,
    attestationId: id,
    seqNum: null,
    securityLevel: SECURITY_LEVEL,
    confirmedAt: null,
    complianceStatus: { article12_1: false, article12_2: false, article12_3b: false, article14: false },
    source: SOURCE,
    status: null,
    hcsSequence: null,
    cryptoVerification: { verified: false, checks: Object.fromEntries(CHECKS.map((check) => [check, false])) },
    witnessed: false,
    payloadState: null,
    submittedAt: null,
    sourceIdHash: null,
    recordKind: null,
    node: nodeOfRecord(id),
    keyId: null,
    topic,
    ledger: null,
    consensusTimestamp: null,
    links: { overrides: 0, incidents: 0, session: false },
    problems: [{ check: 'leafRederived', code: 'record-malformed', detail: 'the stored evidence cannot be read' }],
  };
}
