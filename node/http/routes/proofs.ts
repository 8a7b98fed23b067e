import { PROOF_EXAMPLE, ProofAnswerShape } from '../../../protocol/api/bundles.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { publicProof } from '../../verification/bundles.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { FederationProofSources } from '../../verification/federation-proof.ts';
import type { FreeRoute } from '../route.ts';
import { RECORD_PARAMETER, recordNotFound, recordParameter } from './record-parameter.ts';

export interface ProofSources extends FederationProofSources {
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
}

/** `GET /v1/proofs/:id`: what proves id, kind, node and time of a record, for whoever has the id. */
export function proofRoute(sources: ProofSources): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/proofs/:id',
    access: 'free',
    documentation: {
      summary: 'The public proof of a record',
      description:
        'For anyone who has the id, at any node. A bundle without the body of its record: it proves, with no network, ' +
        'that the node made a record of this id and kind at this time, and shows no more than the verification does. ' +
        'Before the record is confirmed it holds what there is.',
      params: RECORD_PARAMETER,
      answer: { shape: ProofAnswerShape, example: PROOF_EXAMPLE },
      problems: ['invalid-field', 'attestation-not-found'],
    },
    async answer({ params }) {
      const id = recordParameter(params);
      const evidence = await sources.evidence(id);
      if (evidence === undefined) throw recordNotFound(id);
      const headers = { 'Content-Type': 'application/json; charset=utf-8' };
      return { body: JSON.stringify(await publicProof(sources, evidence)), headers };
    },
  };
}
