import { hash } from 'node:crypto';
import { MAX_BATCH } from '../../../protocol/api/paid-attest-batch.ts';
import {
  TIERED_ATTEST_BATCH_EXAMPLE,
  type TieredAttestBatchAnswer,
  TieredAttestBatchAnswerShape,
  TieredAttestBatchRequestShape,
} from '../../../protocol/api/tiered-attest-batch.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Caller } from '../../accounts/caller.ts';
import { type Draft, keptFor } from '../../intake/draft.ts';
import type { KeyedRequest, MarkOf } from '../../intake/idempotency.ts';
import { anchorExpectedBy, LEAF_TIER } from '../../verification/attestation/attestation-answer.ts';
import { askerOf } from '../asked-work.ts';
import type { BodyLimits, ListLimits } from '../body.ts';
import { type ListBody, readListBody } from '../list-body.ts';
import { type BatchRemarks, DecisionBatch, readRemarks, resultsOf } from '../recording/decision-batch.ts';
import { idempotencyKey, waitAsPreferred } from '../recording/recording.ts';
import type { Call, KeyRoute } from '../route.ts';
import { MAX_INCIDENTS, MAX_RELATED, withLinks } from './batch-links.ts';
import type { DecisionServices } from './attest.ts';

/** A batch whose records, if it has any, are on the disk. */
interface RecordedBatch {
  readonly records: readonly AttestationRecord[];
  readonly remarks: BatchRemarks;
}

const PATH = '/v1/tiered-attest-batch';
const MEBIBYTE = 1 << 20;
const BODY: BodyLimits = { maxBytes: 32 * MEBIBYTE, deadlineMs: 60_000 };
const ITEMS: ListLimits = { maxItems: MAX_BATCH, maxItemBytes: 64 << 10, maxValues: 1 << 20 };

/**
 * `POST /v1/tiered-attest-batch`: many decisions as leaves, in one signed group and one write. A decision that is
 * refused keeps none of the others from being recorded.
 */
export function tieredAttestBatchRoute(services: DecisionServices): KeyRoute {
  return {
    method: 'POST',
    path: PATH,
    access: 'key',
    scope: 'attest:write',
    records: 1,
    documentation: {
      summary: `Records up to ${MAX_BATCH} decisions in one call`,
      description:
        'Each item is a body of `POST /v1/tiered-attest` and becomes a record of its own. `results` has one entry for each, ' +
        'in their order: `attestationId` and `payloadHash`, or the `code` and `detail` with which that endpoint refuses it. ' +
        'A body that is no list, or has an item that is no JSON, is refused as a whole, and so is a batch that goes past ' +
        'the daily cap, which counts its records; nothing is recorded then. What is recorded is, all of it, in one write. ' +
        'An `Idempotency-Key` covers the batch: repeat it with the same bytes. One that came with a batch of which nothing ' +
        'was recorded is not used up, and is good for other bytes too. ' +
        `A body has at most ${MAX_BATCH} items, ${BODY.maxBytes / MEBIBYTE} MiB and ${ITEMS.maxValues} values, an item ` +
        `${ITEMS.maxItemBytes >> 10} KiB as it is sent; its decisions name at most ${MAX_INCIDENTS} incidents and ${MAX_RELATED} related records.`,
      request: {
        shape: TieredAttestBatchRequestShape,
        example: TIERED_ATTEST_BATCH_EXAMPLE.request,
        lines: TIERED_ATTEST_BATCH_EXAMPLE.lines,
      },
      answer: { shape: TieredAttestBatchAnswerShape, example: TIERED_ATTEST_BATCH_EXAMPLE.answer },
      problems: [],
    },
    async answer(call, caller) {
      const { recorder } = services;
      const batch = await recorded(services, call, caller);
      call.counted();
      const body = answerOf(batch, caller);
      const last = batch.records.at(-1);
      const waited = last === undefined ? undefined : await waitAsPreferred(recorder, call.context, last);
      if (waited === undefined) return { body };
      return { body: { ...body, status: waited.status }, headers: { 'Preference-Applied': `wait=${waited.seconds}` } };
    },
  };
}

async function recorded(services: DecisionServices, call: Call, caller: Caller): Promise<RecordedBatch> {
  const { context } = call;
  const { idempotency, recordsFrom } = services.recorder;
  const key = idempotencyKey(context);
  using body = await readListBody(context.req, BODY, ITEMS, askerOf(context.req));
  const run = (mark?: MarkOf) => record(services, call, caller, body, mark);
  if (key === undefined) return await run();
  const outcome = await idempotency.run(caller.account.id, keyedRequest(key, await body.digest()), run);
  if (!('replay' in outcome)) return outcome;
  const { id, kept } = outcome.replay;
  const remarks = readRemarks(kept);
  return { remarks, records: await recordsFrom(id, remarks.size - remarks.refusals.length) };
}

/** Nothing is recorded before the whole body was looked at, and then all of it in one write. */
async function record(
  services: DecisionServices,
  call: Call,
  caller: Caller,
  body: ListBody,
  mark: MarkOf | undefined,
): Promise<RecordedBatch> {
  const { intake, requireStorage } = services.recorder;
  const batch = new DecisionBatch(caller, services.now);
  await body.each((value, index) => batch.add(value, index));
  return withLinks(services, caller, batch, async () => {
    const { remarks } = batch;
    const drafts: Draft[] = batch.takeDrafts().map((draft) => keptFor(caller.account, draft));
    const [first] = drafts;
    if (first === undefined) return { records: [], remarks };
    await call.reserve(drafts.length);
    // The row that a repeated request meets lands in the same write as all of the records.
    if (mark !== undefined) drafts[0] = { ...first, idempotency: mark({ ...remarks }) };
    // Handed over for good: nothing here holds the texts while they are written.
    const built = await intake.submitAll(drafts.splice(0), requireStorage);
    return { records: built.map(({ record: made }) => made), remarks };
  });
}

function keyedRequest(key: string, digest: string): KeyedRequest {
  return { key, request: hash('sha256', [key, PATH, digest].join('\n'), 'hex') };
}

function answerOf({ records, remarks }: RecordedBatch, { account }: Caller): TieredAttestBatchAnswer {
  const [first] = records;
  return {
    success: true,
    count: records.length,
    refused: remarks.refusals.length,
    tier: LEAF_TIER,
    status: 'buffered',
    submittedAt: first?.submittedAt ?? null,
    anchorExpectedBy: first === undefined ? null : timestampOf(anchorExpectedBy(first, account.tier)),
    results: resultsOf(remarks, records),
    warnings: remarks.warnings,
  };
}
