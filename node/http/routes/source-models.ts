import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { SourceIdShape } from '../../../protocol/api/fields.ts';
import {
  SOURCE_MODELS_EXAMPLE,
  type SourceModelsAnswer,
  SourceModelsAnswerShape,
} from '../../../protocol/api/sources.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { covers } from '../../accounts/caller.ts';
import { MAX_MODEL_LOOKS, modelHistory } from '../../records/sources/model-history.ts';
import type { RecordLists } from '../../records/sources/record-page.ts';
import { proofWindowOpensAt } from '../../verification/attestation/attestation-answer.ts';
import { Problem } from '../problem.ts';
import { requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';
import { placesSeen } from './continuity.ts';

export interface SourceModelServices {
  readonly lists: Pick<RecordLists, 'source'>;
  readonly now: () => number;
}

/** `GET /v1/sources/:id/models`: the models of a source over time (EU AI Act Art. 12: what a decision was made with). */
export function sourceModelsRoute({ lists, now }: SourceModelServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/sources/:id/models',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The models that a source names, over time',
      description:
        `Of all its records, or where there are more of ${MAX_MODEL_LOOKS} of them, evenly spread: what was in use for less ` +
        'than lies between two of those may be missing. Within the period of the key and the proof window of the tier.',
      params: {
        id: { description: 'The `sourceId`, percent-encoded.', shape: SourceIdShape, example: EXAMPLE_IDS.source },
      },
      answer: { shape: SourceModelsAnswerShape, example: SOURCE_MODELS_EXAMPLE },
      problems: ['source-not-found'],
    },
    async answer({ params: { id: sourceId = '' } }, caller) {
      requireReach(caller, sourceId);
      const records = lists.source(caller.account.id, sourceId);
      const { last } = await records.end(sourceId);
      const opensAt = proofWindowOpensAt(caller.account.tier, now());
      const within = await placesSeen(records, last, caller, opensAt);
      if (within.from > within.to) {
        throw new Problem('source-not-found', 'The account has no such source on this node.');
      }
      const isShown = ({ submittedAt }: AttestationRecord): boolean =>
        covers(caller.key, submittedAt) && (opensAt === null || Date.parse(submittedAt) >= opensAt);
      const { looked, runs } = await modelHistory(records, within, isShown);
      const items = runs.map(({ modelId, modelVersion, firstSeq, lastSeq, ...at }) => {
        return { modelId, modelVersion, firstSeq, lastSeq, firstSubmittedAt: at.firstAt, lastSubmittedAt: at.lastAt };
      });
      const { from: firstSeq, to: lastSeq } = within;
      const body: SourceModelsAnswer = { success: true, sourceId, firstSeq, lastSeq, looked, items };
      return { body };
    },
  };
}
