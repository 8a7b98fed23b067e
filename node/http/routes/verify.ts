import type { Logger } from 'pino';
import {
  PROOF_SOURCE,
  SECURITY_LEVEL,
  VERIFY_EXAMPLE,
  type VerifyAnswer,
  VerifyAnswerShape,
} from '../../../protocol/api/verify.ts';
import { evaluate } from '../../../protocol/evidence/rules.ts';
import { hashText } from '../../../protocol/hash.ts';
import { type EntityId, nodeOfRecord, type RecordId } from '../../../protocol/ids.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { type Timestamp, timestampOf, timestampOfConsensus } from '../../../protocol/time.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { EvidenceDamagedError } from '../../verification/evidence.ts';
import type { RecordVerdict, Verifier } from '../../verification/verifier.ts';
import type { FreeRoute } from '../route.ts';
import { evidenceAnswer, findingsAnswer } from './evidence-answer.ts';
import { RECORD_PARAMETER, recordNotFound, recordParameter } from './record-parameter.ts';

export interface VerifySources {
  readonly verifier: Pick<Verifier, 'verifyRecord'>;
  readonly topic: EntityId;
  readonly now: () => number;
  readonly log: Logger;
}

/** `GET /v1/verify/:id` (SPEC §2.3): free, for anyone. Carries the field sets of direct and tiered records alike. */
export function verifyRoute({ verifier, topic, now, log }: VerifySources): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/verify/:id',
    access: 'free',
    documentation: {
      summary: 'Whether a record is proved',
      description:
        'For anyone, at any node of the federation. Every check is made anew from the stored bytes. The flags say which ' +
        'evidence is recorded, never that something is compliant; no person and no payload is shown. A record that ' +
        'waits for the ledger is not `verified` yet, and `status` says so.',
      params: RECORD_PARAMETER,
      answer: { shape: VerifyAnswerShape, example: VERIFY_EXAMPLE },
      problems: ['invalid-field', 'attestation-not-found'],
    },
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
        return { body: damagedAnswer(id, topic, timestampOf(now())), headers };
      }
    },
  };
}

/** Names no person and shows no payload: the hash of the source id stands for it. */
function verifyAnswer(verdict: RecordVerdict, topic: EntityId): VerifyAnswer {
  const { evidence, verified, checks, status, payloadState, links } = verdict;
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
    ...evidenceAnswer(verdict),
    source: PROOF_SOURCE,
    status,
    hcsSequence: confirmed?.sequence ?? null,
    cryptoVerification: { verified, checks },
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
    links: { ...links, ids: [...links.ids] },
    problems: findingsAnswer(verdict.problems),
  };
}

/** What was recorded under the id is there and cannot be read any more: nothing about it is shown to be true. */
function damagedAnswer(id: RecordId, topic: EntityId, at: Timestamp): VerifyAnswer {
  const none = {
    leafRederived: false,
    payloadHashMatch: false,
    proofWalk: false,
    bundleBinding: false,
    sigValid: false,
  };
  return {
    found: true,
    verified: false,
    sigValid: false,
    attestationId: id,
    seqNum: null,
    securityLevel: SECURITY_LEVEL,
    confirmedAt: null,
    ...evidenceAnswer({ ...evaluate({ record: null, sigValid: false }, [], at), agent: null }),
    source: PROOF_SOURCE,
    status: null,
    hcsSequence: null,
    cryptoVerification: { verified: false, checks: none },
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
    links: { overrides: 0, incidents: 0, session: false, ids: [], truncated: false },
    problems: [{ check: 'leafRederived', code: 'record-malformed', detail: 'the stored evidence cannot be read' }],
  };
}
