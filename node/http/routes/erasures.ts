import type { Static } from 'typebox';
import {
  ERASURE_EXAMPLE,
  ERASURE_SOURCE,
  ErasureAnswerShape,
  ErasureDocumentShape,
  ErasureRequestShape,
} from '../../../protocol/api/erasures.ts';
import { MAX_LINKED } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { type Caller, covers } from '../../accounts/caller.ts';
import type { Erasures, ErasureSplit, ErasureTarget } from '../../governance/erasures.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { Pseudonyms } from '../../governance/subjects.ts';
import { type Draft, keptFor } from '../../intake/draft.ts';
import { fieldError, Problem } from '../problem.ts';
import {
  type Recorder,
  type RecordingRequest,
  recordingRoute,
  requireReach,
  type Submit,
} from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface ErasureServices {
  readonly recorder: Recorder;
  readonly erasures: Pick<Erasures, 'targets' | 'alone' | 'requireUnlocked' | 'removals' | 'purge'>;
  readonly pseudonyms: Pick<Pseudonyms, 'subject'>;
  readonly now: () => number;
}

type Work = RecordingRequest<Static<typeof ErasureRequestShape>>;

/**
 * `POST /v1/erasures` (api-rules §10 item 4): destroys the keys of payloads; proofs, verification and evidence flags
 * stay. Answered once no file of the store holds the keys.
 */
export function erasureRoute(services: ErasureServices): KeyRoute {
  return recordingRoute(services.recorder, {
    path: '/v1/erasures',
    scope: 'erasure:execute',
    shape: ErasureRequestShape,
    documentation: {
      summary: 'Erases payloads for good',
      description:
        'Of records that this node made: by their ids, or all of a person who was named in `subjectRef`. The key and ' +
        'the salt of each payload are destroyed, in the store and in its files; what is left of it cannot be read, or ' +
        'guessed from its hash. Refused as a whole while a retention lock or legal hold covers one of the records.',
      request: { shape: ErasureDocumentShape, example: ERASURE_EXAMPLE.request },
      answer: { shape: ErasureAnswerShape, example: ERASURE_EXAMPLE.answer },
      problems: ['attestation-not-found', 'retention-locked'],
    },
    async record(work, submit) {
      const { caller, request } = work;
      const target = targetOf(request);
      const { records, isComplete, field } = await services.erasures.targets(caller.account.id, target);
      for (const record of records) requireSeen(caller, record);
      const record = await services.erasures.alone(records, async (split) => {
        await services.erasures.requireUnlocked(split.present, field, services.now());
        return eraseAll(services, work, split, isComplete, submit);
      });
      await services.erasures.purge();
      return record;
    },
    answer({ record, kept, envelope }) {
      const { erasures: earlier = [], alreadyErased = [], complete = true } = kept;
      const erasures = [...(Array.isArray(earlier) ? earlier : []), erasureOf(record)];
      return {
        ...envelope,
        erasureId: objectId('erasure', record.id),
        erasures,
        erasedCount: erasures.reduce<number>((sum, { erasedCount }) => sum + Number(erasedCount), 0),
        alreadyErased,
        complete,
      };
    },
  });
}

/** Throws `Problem` 403 where the key is bound to other sources, or to another period. */
function requireSeen(caller: Caller, { sourceId, submittedAt }: AttestationRecord): void {
  requireReach(caller, sourceId);
  if (covers(caller.key, submittedAt)) return;
  throw new Problem('scope-forbidden', 'A record is not of the period that this API key may see.');
}

/**
 * One record of erasure for every hundred payloads; the last, which may be of none, is what the request is answered
 * with.
 */
async function eraseAll(
  { recorder, erasures, pseudonyms }: ErasureServices,
  work: Work,
  { present, gone }: ErasureSplit,
  complete: boolean,
  submit: Submit,
): Promise<AttestationRecord> {
  const earlier: JsonObject[] = [];
  const draft = draftOf(work, pseudonyms);
  const erasing = async (records: readonly AttestationRecord[]): Promise<Draft> => {
    const removals = await erasures.removals(records);
    const erased = records.length === 0 ? undefined : records.map(({ id }) => id);
    return keptFor(work.caller.account, { ...draft, links: { erased }, besides: () => removals });
  };
  // Asked before the first of several records, so that a full node refuses all of them.
  recorder.requireStorage();
  let at = 0;
  for (; present.length - at > MAX_LINKED; at += MAX_LINKED) {
    const { record } = await recorder.intake.submit(await erasing(present.slice(at, at + MAX_LINKED)));
    earlier.push(erasureOf(record));
  }
  const kept = { erasures: earlier, alreadyErased: gone.map(({ id }) => id), complete };
  return submit(await erasing(present.slice(at)), kept);
}

/** An erasure does not keep what it erases: its own payload has the person's pseudonym in place of the name. */
function draftOf({ body, additional, caller }: Work, pseudonyms: ErasureServices['pseudonyms']): Draft {
  const account = caller.account.id;
  const { subjectRef } = body;
  const named =
    typeof subjectRef === 'string' ? { subjectRef: `hmac-sha256:${pseudonyms.subject(account, subjectRef)}` } : {};
  const facts = { kind: 'erasure', account, sourceId: ERASURE_SOURCE } as const;
  return governanceDraft({ body: { ...body, ...named }, additional }, facts);
}

function erasureOf({ id, links }: AttestationRecord): JsonObject {
  return { erasureId: objectId('erasure', id), attestationId: id, erasedCount: links.erased?.length ?? 0 };
}

/** Throws `Problem` where the request names both, or neither. */
function targetOf({ attestationIds, subjectRef }: Work['request']): ErasureTarget {
  if (attestationIds !== undefined && subjectRef === undefined) return { attestationIds };
  if (subjectRef !== undefined && attestationIds === undefined) return { subjectRef };
  if (subjectRef === undefined) {
    const message = 'or subjectRef is required';
    throw new Problem('missing-field', `attestationIds ${message}`, {
      errors: [fieldError(['attestationIds'], 'required', message)],
    });
  }
  const message = 'cannot stand beside attestationIds';
  throw new Problem('invalid-field', `subjectRef ${message}`, {
    errors: [fieldError(['subjectRef'], 'exclusive', message)],
  });
}
