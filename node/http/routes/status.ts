import { STATUS_EXAMPLE, type StatusAnswer, StatusAnswerShape } from '../../../protocol/api/status.ts';
import type { EntityId, RecordId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Account } from '../../accounts/accounts.ts';
import {
  anchorExpectedBy,
  batchId,
  LEAF_TIER,
  proofWindowEndsAt,
} from '../../verification/attestation/attestation-answer.ts';
import {
  type AnchoringFacts,
  type AnchoringView,
  waitingStatus,
} from '../../verification/attestation/anchoring-view.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { KeyRoute } from '../route.ts';
import { RECORD_PARAMETER, recordParameter, requireFound } from './record-parameter.ts';

export interface StatusSources {
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: AnchoringView;
  readonly topic: EntityId;
  readonly now: () => number;
}

/** `GET /v1/status/:id` (api-rules §3, §4.2): how far a record is on its way to the ledger. Any valid key may ask. */
export function statusRoute(sources: StatusSources): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/status/:id',
    access: 'key',
    scope: null,
    documentation: {
      summary: 'How far a record is on its way to the ledger',
      description: 'Any valid key may ask about any record.',
      params: RECORD_PARAMETER,
      answer: { shape: StatusAnswerShape, example: STATUS_EXAMPLE },
      problems: ['invalid-field', 'attestation-not-found'],
    },
    async answer({ params }, { account }) {
      const id = recordParameter(params);
      const found = requireFound(params, await sources.evidence(id));
      const body = statusAnswer(sources, account, found, await sources.view.of(found));
      return { body };
    },
  };
}

function statusAnswer(
  { topic, now }: StatusSources,
  account: Account,
  { record, batch }: Evidence,
  { status, anchoredAt, confirmedAt, ledger, transactionId, history }: AnchoringFacts,
): StatusAnswer {
  const ownTier = record.account === account.id ? account.tier : undefined;
  const expectedBy = anchorExpectedBy(record, ownTier);
  const windowEndsAt = ownTier === undefined ? null : proofWindowEndsAt(record, ownTier);
  return {
    success: true,
    attestationId: record.id,
    status,
    tier: LEAF_TIER,
    submittedAt: record.submittedAt,
    anchoredAt,
    confirmedAt,
    anchorExpectedBy: timestampOf(expectedBy),
    delayed: status === waitingStatus(record) && now() > expectedBy,
    batchId: batch === undefined ? null : batchId(batch),
    leafIndex: batch === undefined ? null : record.seq - batch.envelope.first,
    merkleRoot: batch?.envelope.root ?? null,
    topic,
    transactionId,
    hcsSequence: ledger?.sequence ?? null,
    consensusTimestamp: ledger?.consensusTimestamp ?? null,
    proofWindowEndsAt: windowEndsAt === null ? null : timestampOf(windowEndsAt),
    history: history.map(({ status: step, at }) => ({ status: step, at })),
  };
}
