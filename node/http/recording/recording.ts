import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { Static, TObject } from 'typebox';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Status } from '../../../protocol/verdict/verdict.ts';
import { type Caller, reaches } from '../../accounts/caller.ts';
import { HeldPlaces, NoPlaceError } from '../../accounts/limits/held-places.ts';
import { LEDGER_WAITS } from '../../accounts/limits/route-weights.ts';
import type { Scope } from '../../accounts/scopes.ts';
import { type Draft, keptFor } from '../../intake/draft.ts';
import type { Idempotency, KeyedRequest, MarkOf } from '../../intake/idempotency.ts';
import type { Intake } from '../../intake/intake.ts';
import { waitingStatus } from '../../verification/attestation/anchoring-view.ts';
import { askerOf } from '../asked-work.ts';
import { MAX_BODY_BYTES, parseJsonBody, readJsonText, RECORDS_UNDER_WORK } from '../body.ts';
import { fieldError, fieldProblem, Problem } from '../problem.ts';
import type { Call, Documentation, KeyRoute } from '../route.ts';
import { type FieldCodes, unknownMembers, validator } from '../validation.ts';
import { requireSmallAdditional } from './sizes.ts';

/** Longest `Prefer: wait` that is honoured. In seconds. */
const MAX_WAIT_SECONDS = 120;
/** Of the process. */
const WAITS = new HeldPlaces(LEDGER_WAITS);
const WAIT = /(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:$|[,;])/i;

/** The status that a record reached, and how many seconds of waiting were granted. */
interface Waited {
  readonly status: Status;
  readonly seconds: number;
}

/**
 * With `Prefer: wait=N` (RFC 7240 §4.3): waits up to N seconds for the ledger, or until the caller hangs up. The
 * preference is passed over where as many wait as may.
 */
export async function waitAsPreferred(
  { waitFor }: Pick<Recorder, 'waitFor'>,
  context: Context,
  record: AttestationRecord,
): Promise<Waited | undefined> {
  const wanted = Number(WAIT.exec(context.get('prefer'))?.[1] ?? 0);
  if (wanted === 0) return undefined;
  using place = await placeFor(context);
  if (place === undefined) return undefined;
  const seconds = Math.min(wanted, MAX_WAIT_SECONDS);
  const gone = new AbortController();
  const onClose = () => gone.abort();
  context.res.once('close', onClose);
  // The caller may have hung up while its record was being written.
  if (context.res.destroyed || context.req.socket.destroyed) gone.abort();
  const status = await waitFor(record, seconds * 1000, gone.signal);
  context.res.off('close', onClose);
  return { status, seconds };
}

async function placeFor(context: Context): Promise<Disposable | undefined> {
  try {
    return await WAITS.enter(askerOf(context.req));
  } catch (error) {
    if (error instanceof NoPlaceError) return undefined;
    throw error;
  }
}

/** An endpoint that answers a request with one signed record. */
export interface Recording<Shape extends TObject> {
  readonly path: string;
  readonly scope: Scope;
  readonly shape: Shape;
  /** Members whose faults have a code of their own. */
  readonly codes?: FieldCodes;
  readonly documentation: Documentation;
  /**
   * Checks links and states, and hands over the draft: once, or never and throws. A lock that guards a state is held
   * around both. Not called for the replay of an idempotency key.
   */
  record(request: RecordingRequest<Static<Shape>>, submit: Submit): Promise<AttestationRecord>;
  /** The whole answer. But for what `after` says it follows from the record, what was kept with it, and the request. */
  answer(recorded: Recorded<Static<Shape>>): JsonObject;
  /** What the caller should know of a request that was accepted all the same. */
  warnings?(request: Static<Shape>): readonly string[];
  /**
   * What is done once the record is there, and what the caller should know of how that stands now. Also called for the
   * replay of an idempotency key, whose warnings may be others by then.
   */
  after?(record: AttestationRecord): Promise<readonly string[]>;
}

/** A request whose form is right. */
export interface RecordingRequest<Request> {
  readonly request: Request;
  /** All of the body, and those of its members that no schema names. */
  readonly body: JsonObject;
  readonly additional: ReadonlyMap<string, JsonValue>;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

/**
 * Records a draft. `kept`: what the answer needs beside the record; an idempotent replay gets it again. The texts of
 * its member `warnings` are shown among the answer's.
 */
export type Submit = (draft: Omit<Draft, 'idempotency'>, kept?: JsonObject) => Promise<AttestationRecord>;

export interface Recorded<Request = unknown> {
  /** For the replay of an idempotency key it is the same as the first one. */
  readonly request: Request;
  readonly record: AttestationRecord;
  readonly kept: JsonObject;
  readonly caller: Caller;
  readonly envelope: AcceptedAnswer;
}

/** What every accepted request is answered with (api-rules §7). */
export interface AcceptedAnswer extends JsonObject {
  success: true;
  attestationId: RecordId;
  status: 'pending' | 'buffered';
  submittedAt: Timestamp;
  topic: string;
  verifyUrl: string;
  warnings: string[];
}

interface Outcome {
  readonly record: AttestationRecord;
  readonly kept: JsonObject;
}

interface RecordAnswer {
  readonly record: AttestationRecord;
  readonly answer: JsonObject;
}

const BODY = { maxBytes: MAX_BODY_BYTES };
/** Characters of an `Idempotency-Key`. */
const MAX_IDEMPOTENCY_KEY = 128;

/** The route of a recording: reads and checks the body, records once for an `Idempotency-Key`, waits if asked to. */
export function recordingRoute<Shape extends TObject>(recorder: Recorder, recording: Recording<Shape>): KeyRoute {
  const { path, scope, shape, documentation } = recording;
  const validate = validator(shape, recording.codes);
  const known = new Set(Object.keys(shape.properties));
  return {
    method: 'POST',
    path,
    access: 'key',
    scope,
    records: 1,
    documentation,
    async answer(call, caller) {
      // What is left of the request while its caller waits for the ledger is the answer.
      const { record, answer } = await recorded(call, caller);
      call.counted();
      const waited = await waitAsPreferred(recorder, call.context, record);
      if (waited === undefined) return { body: answer };
      const headers = { 'Preference-Applied': `wait=${waited.seconds}` };
      return { body: { ...answer, status: waited.status }, headers };
    },
  };

  async function recorded(call: Call, caller: Caller): Promise<RecordAnswer> {
    const { context, params } = call;
    const text = await readJsonText(context.req, BODY);
    using _room = RECORDS_UNDER_WORK.enter(text.length, askerOf(context.req));
    const body = parseJsonBody(text, BODY);
    const request = validate(body);
    const additional = unknownMembers(body, known);
    requireSmallAdditional(additional);
    requireReach(caller, body.sourceId);
    const work = { request, body, additional, params, caller };
    const { record, kept } = await runOnce(recorder, recording, call, work);
    const own = recording.warnings?.(request) ?? [];
    const late = (await recording.after?.(record)) ?? [];
    const warnings = [...additionalWarnings(additional), ...own, ...keptWarnings(kept), ...late];
    const envelope = envelopeOf(recorder, record, warnings);
    return { record, answer: recording.answer({ request, record, kept, caller, envelope }) };
  }
}

/** The same key with the same request is answered as the first time (draft-ietf-httpapi-idempotency-key-header-07). */
async function runOnce<Shape extends TObject>(
  { intake, idempotency, recordOf, requireStorage }: Recorder,
  recording: Recording<Shape>,
  { context, reserve }: Pick<Call, 'context' | 'reserve'>,
  work: RecordingRequest<Static<Shape>>,
): Promise<Outcome> {
  const key = idempotencyKey(context);
  const run = async (mark?: MarkOf): Promise<Outcome> => {
    // Only a request that was not answered before needs room in the day.
    if (mark !== undefined) await reserve(1);
    let kept: JsonObject = {};
    const record = await recording.record(work, async (given, answerNeeds = {}) => {
      kept = answerNeeds;
      const draft = keptFor(work.caller.account, given);
      const keyed = mark ? { ...draft, idempotency: mark(kept) } : draft;
      const { record: made } = await intake.submit(keyed, requireStorage);
      return made;
    });
    return { record, kept };
  };
  if (key === undefined) return run();
  const outcome = await idempotency.run(work.caller.account.id, keyedRequest(key, recording.path, work), run);
  if (!('replay' in outcome)) return outcome;
  return { record: await recordOf(outcome.replay.id), kept: outcome.replay.kept };
}

function keyedRequest(key: string, path: string, { params, body }: RecordingRequest<unknown>): KeyedRequest {
  const asked = [key, path, ...Object.values(params), canonicalize(body)].join('\n');
  return { key, request: hash('sha256', asked, 'hex') };
}

/** The `Idempotency-Key` of a request. Throws `Problem` 400 where it is empty, for it would protect nothing, or too long. */
export function idempotencyKey({ req }: Context): string | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined || Array.isArray(key)) return undefined;
  if (key === '') throw keyProblem('minLength', 'Idempotency-Key is empty');
  if (key.length <= MAX_IDEMPOTENCY_KEY) return key;
  throw keyProblem('maxLength', `Idempotency-Key is longer than ${MAX_IDEMPOTENCY_KEY} characters`);
}

function keyProblem(rule: string, detail: string): Problem {
  return new Problem('invalid-field', detail, { errors: [fieldError(['Idempotency-Key'], rule, detail)] });
}

/** Throws `Problem` 403 where the key is bound to other sources. */
export function requireReach(caller: Caller, sourceId: JsonValue | undefined): void {
  if (typeof sourceId !== 'string' || reaches(caller.key, sourceId)) return;
  throw fieldProblem('sourceId', 'scope', 'is not among the sources of this API key', 'scope-forbidden');
}

/** Members that no schema names are kept, and the caller is told. */
export function additionalWarnings(additional: ReadonlyMap<string, JsonValue>): string[] {
  return [...additional.keys()].map((name) => `${name}: not a documented field; signed under additional`);
}

function keptWarnings({ warnings }: JsonObject): string[] {
  return Array.isArray(warnings) ? warnings.filter((text) => typeof text === 'string') : [];
}

function envelopeOf({ topic, verifyUrl }: Recorder, record: AttestationRecord, warnings: string[]): AcceptedAnswer {
  return {
    success: true,
    attestationId: record.id,
    status: waitingStatus(record),
    submittedAt: record.submittedAt,
    topic,
    verifyUrl: verifyUrl(record.id),
    warnings,
  };
}

/** What every endpoint that makes a record needs. */
export interface Recorder {
  readonly intake: Pick<Intake, 'submit' | 'submitAll'>;
  readonly idempotency: Pick<Idempotency, 'run'>;
  /** Throws `Problem` 507 if the node has no storage left for another record. */
  readonly requireStorage: () => void;
  /** Ledger topic of the federation. */
  readonly topic: string;
  readonly verifyUrl: (id: RecordId) => string;
  /** A record of this node. */
  readonly recordOf: (id: RecordId) => Promise<AttestationRecord>;
  /** A record of this node and those after it, so many in all. */
  readonly recordsFrom: (id: RecordId, count: number) => Promise<readonly AttestationRecord[]>;
  /** Waits until an own record is confirmed, or the time is up; resolves to the status reached. */
  readonly waitFor: (record: AttestationRecord, milliseconds: number, signal: AbortSignal) => Promise<Status>;
}
