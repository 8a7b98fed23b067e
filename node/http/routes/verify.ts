import type { Logger } from 'pino';
import {
  PROOF_SOURCE,
  SECURITY_LEVEL,
  VERIFY_EXAMPLE,
  type VerifyAnswer,
  VerifyAnswerShape,
} from '../../../protocol/api/verify.ts';
import { hashText } from '../../../protocol/hash.ts';
import { type EntityId, nodeOfRecord, type RecordId } from '../../../protocol/ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { storedStatements } from '../../records/stored-statements.ts';
import { EvidenceDamagedError } from '../../verification/evidence.ts';
import type { VerifiedRecord, Verifier } from '../../verification/verifier.ts';
import type { FreeRoute } from '../route.ts';
import { RECORD_PARAMETER, recordNotFound, recordParameter, requireFound } from './record-parameter.ts';
import { evidenceAnswer, NO_EVIDENCE, payloadStateAnswer, problemsAnswer, verdictAnswer } from './verdict-answer.ts';

export interface VerifySources {
  readonly verifier: Pick<Verifier, 'verifyRecord'>;
  readonly topic: EntityId;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * `GET /v1/verify/:id` (api-rules §2.3): free, for anyone. Carries the field sets of direct and tiered records alike.
 */
export function verifyRoute({ verifier, topic, now, log }: VerifySources): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/verify/:id',
    access: 'free',
    documentation: {
      summary: 'Whether a record is proved',
      description:
        'For anyone, at any node of the federation. Every check of the record is made anew from its stored bytes; of records ' +
        'linked to it, what was checked before is remembered, and judged anew by what is known now. The flags say which ' +
        'evidence is recorded, never that something is compliant, and `evidence` says it fact by fact, with what is missing; what a node that does not speak for the account says of the ' +
        'record is named in `links.others` and turns no flag; no person and no payload is shown. A record is ' +
        '`verified` once the ledger has decided its batch and checkpoints of enough other members vouch for it; ' +
        'before that `status` and the word of `verdict` say what is lacking. `verdict` holds the facts that the word ' +
        'rests on, the time by the ledger, the roster that the members are counted within, and who vouched.',
      params: RECORD_PARAMETER,
      answer: { shape: VerifyAnswerShape, example: VERIFY_EXAMPLE },
      problems: ['invalid-field', 'attestation-not-found'],
    },
    async answer({ params }) {
      const id = recordParameter(params);
      try {
        const verified = await verifier.verifyRecord(id);
        if (verified === undefined) throw recordNotFound(id);
        requireFound(params, verified.evidence);
        return { body: verifyAnswer(verified, topic, timestampOf(now())) };
      } catch (error) {
        if (!(error instanceof EvidenceDamagedError)) throw error;
        log.error({ err: error, id }, 'stored evidence is damaged');
        return { body: damagedAnswer(id, topic, timestampOf(now())) };
      }
    },
  };
}

/** Names no person and shows no payload: the hash of the source id stands for it. */
function verifyAnswer(verifiedRecord: VerifiedRecord, topic: EntityId, at: Timestamp): VerifyAnswer {
  const { verdict, evidence, links, evidenceState, reviewEvidence } = verifiedRecord;
  const { verified, checks, status, facts } = verdict;
  const { record, proof } = evidence;
  const payloadState = payloadStateAnswer(facts.payload);
  const confirmed = status === 'confirmed' ? verdict.ledger : null;
  return {
    found: true,
    verified,
    sigValid: checks.sigValid,
    attestationId: record.id,
    seqNum: confirmed === null ? null : Number(confirmed.sequence),
    securityLevel: SECURITY_LEVEL,
    confirmedAt: confirmed?.at ?? null,
    ...evidenceAnswer(verdict, at),
    source: PROOF_SOURCE,
    status,
    hcsSequence: confirmed?.sequence ?? null,
    cryptoVerification: { verified, checks },
    witnessed: facts.witnessed,
    payloadState,
    ...(payloadState === 'erased' ? { verifiedScope: 'record-only' } : {}),
    evidenceState,
    reviewEvidence: reviewEvidence.map(({ attestationId, evidenceState: state }) => {
      return { attestationId, evidenceState: state };
    }),
    submittedAt: record.submittedAt,
    sourceIdHash: hashText(nativeSuite, record.sourceId),
    recordKind: record.kind,
    node: record.node,
    keyId: storedStatements.group(proof.receipt.statement).keyId,
    topic,
    ledger: confirmed?.network ?? null,
    consensusTimestamp: confirmed?.consensusTimestamp ?? null,
    links: { ...links, ids: [...links.ids], others: [...links.others] },
    problems: problemsAnswer(verdict.problems),
    verdict: verdictAnswer(verdict),
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
    ...evidenceAnswer(NO_EVIDENCE, at),
    source: PROOF_SOURCE,
    status: null,
    hcsSequence: null,
    cryptoVerification: { verified: false, checks: none },
    witnessed: false,
    payloadState: null,
    evidenceState: null,
    reviewEvidence: [],
    submittedAt: null,
    sourceIdHash: null,
    recordKind: null,
    node: nodeOfRecord(id),
    keyId: null,
    topic,
    ledger: null,
    consensusTimestamp: null,
    links: { overrides: 0, incidents: 0, session: false, ids: [], others: [], truncated: false },
    problems: [
      {
        fact: 'signed',
        check: 'leafRederived',
        code: 'record-malformed',
        detail: 'the stored evidence cannot be read',
      },
    ],
    verdict: null,
  };
}
