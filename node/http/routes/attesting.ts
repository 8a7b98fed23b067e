import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { RecordId } from '../../../protocol/ids.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import type { AttestationRecord } from '../../../protocol/statement/record.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { AnchoringStatus } from '../../../protocol/bundle/verdict.ts';
import type { Account } from '../../accounts/accounts.ts';
import { anchorExpectedBy } from '../../attestation/anchoring-promise.ts';
import type { Draft } from '../../intake/draft.ts';
import type { Intake } from '../../intake/intake.ts';
import { IntakeError } from '../../intake/intake-error.ts';
import { MAX_BODY_BYTES } from '../body.ts';
import { fieldError, Problem } from '../problem.ts';
import type { Answer } from '../route.ts';

/** What the endpoints that make records need. */
export interface Attesting {
  readonly intake: Pick<Intake, 'submit'>;
  /** Seals the waiting records at once. */
  readonly sealNow: () => Promise<void>;
  readonly now: () => number;
  /** Ledger topic of the federation. */
  readonly topic: string;
  readonly verifyUrl: (id: RecordId) => string;
  /** A record of this node. */
  readonly recordOf: (id: RecordId) => Promise<AttestationRecord>;
  /** Waits until an own record is confirmed, or the time is up; resolves to the status reached. */
  readonly waitFor: (record: AttestationRecord, milliseconds: number, signal: AbortSignal) => Promise<AnchoringStatus>;
}

export const body = { maxBytes: MAX_BODY_BYTES };

/** How far a caller's clock may be ahead of ours. In milliseconds. */
export const MAX_CLOCK_SKEW_MS = 5 * 60_000;
/** Canonical UTF-8 bytes of `data`, and of the members beside the documented ones. */
const MAX_DATA_BYTES = 256 << 10;
const MAX_ADDITIONAL_BYTES = 16 << 10;
/** Characters of an `Idempotency-Key`. */
const MAX_IDEMPOTENCY_KEY = 128;
/** Longest `Prefer: wait` that is honoured. In seconds. */
const MAX_WAIT_SECONDS = 120;
const WAIT = /(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:$|[,;])/i;

/**
 * Records a draft, once for an `Idempotency-Key`: the same key with the same request answers with the first record
 * again (draft-ietf-httpapi-idempotency-key-header-07). Throws `Problem` or `IntakeError`.
 */
export async function submitOnce(attesting: Attesting, context: Context, draft: Draft): Promise<AttestationRecord> {
  const key = context.get('idempotency-key');
  if (key.length > MAX_IDEMPOTENCY_KEY) {
    const detail = `Idempotency-Key is longer than ${MAX_IDEMPOTENCY_KEY} characters`;
    throw new Problem('invalid-field', detail, { errors: [fieldError(['Idempotency-Key'], 'maxLength', detail)] });
  }
  if (key === '') return (await attesting.intake.submit(draft)).record;
  const request = hash('sha256', `${draft.claims.channel}\n${draft.payload}`, 'hex');
  try {
    const idempotency = { key: hash('sha256', key, 'hex'), request };
    return (await attesting.intake.submit({ ...draft, idempotency })).record;
  } catch (error) {
    if (!(error instanceof IntakeError) || error.code !== 'replayed' || error.existing === undefined) throw error;
    return attesting.recordOf(error.existing);
  }
}

/** Throws `Problem` 413 where `data` or the additional members are too large. */
export function requireSmall(draft: Draft, additional: ReadonlyMap<string, JsonValue>): void {
  requireBytes('data', Buffer.byteLength(draft.decision?.data ?? ''), MAX_DATA_BYTES);
  if (additional.size === 0) return;
  const bytes = Buffer.byteLength(JSON.stringify(Object.fromEntries(additional)));
  requireBytes([...additional.keys()][0] ?? 'additional', bytes, MAX_ADDITIONAL_BYTES);
}

/** No record kind of this version starts a session, so none can be named. Throws `Problem` 404. */
export function checkSession(sessionId: string | undefined): void {
  if (sessionId === undefined) return;
  const detail = 'there is no session of this id';
  throw new Problem('session-not-found', detail, { errors: [fieldError(['sessionId'], 'unknown', detail)] });
}

export function additionalWarnings(additional: ReadonlyMap<string, JsonValue>): string[] {
  return [...additional.keys()].map((name) => `${name}: not a documented field; signed under additional`);
}

/** The answer to an accepted record, or, with `Prefer: wait=N` (RFC 7240), to the status it reached within N seconds. */
export async function settle(
  { waitFor }: Attesting,
  context: Context,
  account: Account,
  record: AttestationRecord,
  accepted: JsonObject,
): Promise<Answer> {
  const answer = { ...accepted, anchorExpectedBy: timestampOf(anchorExpectedBy(record, account.tier)) };
  const seconds = Number(WAIT.exec(context.get('prefer'))?.[1] ?? 0);
  if (seconds === 0) return { body: answer };
  const applied = Math.min(seconds, MAX_WAIT_SECONDS);
  const gone = new AbortController();
  const onClose = () => gone.abort();
  context.res.once('close', onClose);
  // The caller may have hung up while its record was being written.
  if (context.res.destroyed || context.req.socket.destroyed) gone.abort();
  const status = await waitFor(record, applied * 1000, gone.signal);
  context.res.off('close', onClose);
  return { body: { ...answer, status }, headers: { 'Preference-Applied': `wait=${applied}` } };
}

function requireBytes(field: string, bytes: number, limit: number): void {
  if (bytes <= limit) return;
  const detail = `${field} has ${bytes} bytes, over the limit of ${limit}`;
  throw new Problem('payload-too-large', detail, { errors: [fieldError([field], 'too-large', detail)] });
}
