import type { RecordId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { anchorExpectedBy } from '../../attestation/anchoring-promise.ts';
import { type AnchoringView, waitingStatus } from '../../attestation/anchoring-view.ts';
import { batchId } from '../../attestation/batch-id.ts';
import { LEAF_TIER } from '../../attestation/leaf-tier.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { KeyRoute } from '../route.ts';
import { recordNotFound, recordParameter } from './record-parameter.ts';


export interface StatusSources {
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: AnchoringView;
  readonly topic: string;
  readonly now: () => number;
}

/** `GET /v1/status/:id` (SPEC §3, DOMAIN §3.2): how far a record is on its way to the ledger. Any valid key may ask. */
export function statusRoute({ evidence, view, topic, now }: StatusSources): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/status/:id',
    access: 'key',
    scope: 'proof:read',
    async answer({ params }, { account }) {
      const id = recordParameter(params);
      const found = await evidence(id);
      if (found === undefined) throw recordNotFound(id);
      const { record, batch, bundle } = found;
      const { status, anchoredAt, confirmedAt, transactionId, history } = await view.of(found);
      const expectedBy = anchorExpectedBy(record, record.account === account.id ? account.tier : undefined);
      return {
        body: {
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
          hcsSequence: bundle.anchor?.sequence ?? null,
          consensusTimestamp: bundle.anchor?.consensusTimestamp ?? null,
          history: history.map(({ status: step, at }) => ({ status: step, at })),
        },
        headers: { 'Cache-Control': 'no-store' },
      };
    },
  };
}
