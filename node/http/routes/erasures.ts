import type { Static } from 'typebox';
import {
  ERASURE_EXAMPLE,
  ERASURE_REQUEST_TYPE,
  ERASURE_SOURCE,
  ErasureAnswerShape,
  ErasureDocumentShape,
  ErasureRequestShape,
  REFUSED_OUTCOME,
} from '../../../protocol/api/erasures.ts';
import { MAX_LINKED } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { type Caller, covers } from '../../accounts/caller.ts';
import { LimitError } from '../../accounts/limits/limit-error.ts';
import { ComplianceError } from '../../governance/compliance-error.ts';
import type {
  ErasureRefusal,
  Erasures,
  ErasureSplit,
  ErasureTarget,
  ErasureTargets,
} from '../../governance/erasures.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { Pseudonyms } from '../../governance/subjects.ts';
import { type Draft, keptFor } from '../../intake/draft.ts';
import { IntakeError } from '../../intake/intake-error.ts';
import { StoreError } from '../../store/store.ts';
import type { RequestBody } from '../../verification/attestation/payload-text.ts';
import { fieldProblem, Problem } from '../problem.ts';
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
  readonly erasures: Pick<Erasures, 'targets' | 'alone' | 'refusal' | 'removals' | 'purge'>;
  readonly pseudonyms: Pick<Pseudonyms, 'assertedSubject'>;
  readonly now: () => number;
}

/** The warning of an erasure whose keys are in a file still. */
export const NOT_PURGED =
  'the destroyed keys are not out of the files of the store yet, as something reads them, as a backup: they will be once that is over';

type Work = RecordingRequest<Static<typeof ErasureRequestShape>>;

/**
 * `POST /v1/erasures` (api-rules §10 item 4): destroys the keys of payloads; proofs, verification and evidence flags
 * stay. Answered once no file of the store holds the keys, or with a warning where reads that last keep one.
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
        'the salt of each payload are destroyed, in the store and in its files; what is left of it cannot be read, ' +
        'or guessed from its hash. From the answer on nobody reads it here. It comes once the keys have left the files ' +
        'of the store too; where a long read of the store, as a backup’s, keeps them there, it comes after half a ' +
        'minute with a warning, and they leave the files as soon as that read is over: sent again with its ' +
        '`Idempotency-Key`, the request says how that stands. Refused as a whole while a retention lock, or a legal hold ' +
        'of any node of the account, covers one of the records: the refusal is a record too, of kind `request`, which `attestationId` of the answer names.',
      request: { shape: ErasureDocumentShape, example: ERASURE_EXAMPLE.request },
      answer: { shape: ErasureAnswerShape, example: ERASURE_EXAMPLE.answer },
      problems: ['attestation-not-found', 'retention-locked'],
    },
    async record(work, submit) {
      const { caller, request } = work;
      const target = targetOf(request);
      const { records, isComplete, field } = await services.erasures.targets(caller.account.id, target);
      for (const record of records) requireSeen(caller, record);
      return services.erasures.alone(records, async (split) => {
        const refusal = await services.erasures.refusal(split.present, services.now());
        if (refusal !== undefined) return recordRefusal(services, work, { refusal, records, field }, submit);
        return eraseAll(services, work, split, isComplete, submit);
      });
    },
    async after({ kind }) {
      return kind !== 'erasure' || (await services.erasures.purge()) ? [] : [NOT_PURGED];
    },
    answer({ record, kept, envelope }) {
      if (record.kind === 'request') throw lockedError(kept, record.id);
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

/** A request that is refused as a whole: why, which own records it is about, and which member names them. */
interface Refused {
  readonly refusal: ErasureRefusal;
  readonly records: readonly AttestationRecord[];
  readonly field: ErasureTargets['field'];
}

/**
 * The record of a refused erasure. It says that the erasure was asked for and refused. Where it cannot be made, the
 * refusal stands all the same: throws `ComplianceError` `retention-locked`, which names no record.
 */
async function recordRefusal(
  { pseudonyms, now }: ErasureServices,
  work: Work,
  { refusal, records, field }: Refused,
  submit: Submit,
): Promise<AttestationRecord> {
  const account = work.caller.account.id;
  const { subjectRef } = work.request;
  const asserted = {
    requestType: ERASURE_REQUEST_TYPE,
    outcome: REFUSED_OUTCOME,
    receivedAt: timestampOf(now()),
    ...(subjectRef === undefined ? {} : { subject: pseudonyms.assertedSubject(account, subjectRef) }),
  };
  // Those in the way first: there may be more than one record names.
  const related = [...new Set([...refusal.blocked, ...records].map(({ id }) => id))].slice(0, MAX_LINKED);
  const kept = { field, locks: [...refusal.locks], truncated: refusal.truncated };
  const facts = {
    kind: 'request',
    account,
    sourceId: ERASURE_SOURCE,
    claims: { asserted },
    links: { related },
  } as const;
  try {
    return await submit(governanceDraft(namelessBody(work, pseudonyms), facts), kept);
  } catch (error) {
    if (isRefusedRecord(error)) throw lockedError(kept, null);
    throw error;
  }
}

/** Whether the node takes no record now, for whichever reason that is no fault of the request. */
function isRefusedRecord(error: unknown): boolean {
  if (error instanceof IntakeError) return error.code !== 'idempotency-conflict';
  return error instanceof StoreError || (error instanceof LimitError && error.code === 'storage-full');
}

/** What a refused erasure is answered with. `record`: that of the refusal; null: it could not be recorded. */
function lockedError({ field, locks = [], truncated = false }: JsonObject, record: RecordId | null): ComplianceError {
  const unrecorded = record === null ? '; this refusal could not be recorded' : '';
  const message = `retention locks or legal holds cover the records${unrecorded}`;
  return new ComplianceError('retention-locked', String(field), message, { attestationId: record, locks, truncated });
}

/** A request about a person's records without the name: neither an erasure nor its refusal keeps it. */
function namelessBody({ body, additional, caller }: Work, pseudonyms: ErasureServices['pseudonyms']): RequestBody {
  const { subjectRef } = body;
  if (typeof subjectRef !== 'string') return { body, additional };
  return { body: { ...body, subjectRef: pseudonyms.assertedSubject(caller.account.id, subjectRef) }, additional };
}

function draftOf(work: Work, pseudonyms: ErasureServices['pseudonyms']): Draft {
  const facts = { kind: 'erasure', account: work.caller.account.id, sourceId: ERASURE_SOURCE } as const;
  return governanceDraft(namelessBody(work, pseudonyms), facts);
}

function erasureOf({ id, links }: AttestationRecord): JsonObject {
  return { erasureId: objectId('erasure', id), attestationId: id, erasedCount: links.erased?.length ?? 0 };
}

/** Throws `Problem` where the request names both, or neither. */
function targetOf({ attestationIds, subjectRef }: Work['request']): ErasureTarget {
  if (attestationIds !== undefined && subjectRef === undefined) return { attestationIds };
  if (subjectRef !== undefined && attestationIds === undefined) return { subjectRef };
  if (subjectRef === undefined) {
    throw fieldProblem('attestationIds', 'required', 'or subjectRef is required', 'missing-field');
  }
  throw fieldProblem('subjectRef', 'exclusive', 'cannot stand beside attestationIds');
}
