import { setTimeout as sleep } from 'node:timers/promises';
import { httpRequest } from '../../node/outbound/http-client.ts';
import { isRecordId, type RecordId } from '../../protocol/ids.ts';
import type { JsonObject, JsonValue } from '../../protocol/json/value.ts';
import { bodyOf } from './send.ts';

export interface VerificationOptions {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  /** When to stop waiting, in epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** What a node says of a record at last. */
export interface RecordStatus {
  readonly id: RecordId;
  readonly status: string;
  readonly verified: boolean;
}

/** Pause before a record is asked about again. In milliseconds. */
const PAUSE_MS = 1_000;
const LIMITS = { timeoutMs: 30_000, maxBytes: 1 << 20 };
/** Objects that records make have ids of the same form under other prefixes. */
const ATTESTATION = 'att_';
const CONFIRMED = 'confirmed';

/** The records that an answer names, each once. */
export function recordsIn(value: JsonValue): readonly RecordId[] {
  if (typeof value === 'string') return isRecordId(value) && value.startsWith(ATTESTATION) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return [...new Set(Object.values(value).flatMap(recordsIn))];
}

/** Asks about a record until it is confirmed on the ledger, or time is up. */
export async function verification(id: RecordId, options: VerificationOptions): Promise<RecordStatus> {
  for (;;) {
    const verdict = await ask(id, options);
    const status = typeof verdict.status === 'string' ? verdict.status : 'unknown';
    const finding = { id, status, verified: verdict.verified === true };
    if (status === CONFIRMED || options.signal.aborted || Date.now() >= options.deadline) return finding;
    await sleep(PAUSE_MS, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

/** Whether a record that is on the ledger does not hold. */
export function isBroken({ status, verified }: RecordStatus): boolean {
  return status === CONFIRMED && !verified;
}

async function ask(id: RecordId, { baseUrl, fetch: get, signal }: VerificationOptions): Promise<JsonObject> {
  try {
    const request = { ...LIMITS, redirects: 'follow', signal, fetch: get } as const;
    const { bytes } = await httpRequest(`${baseUrl}/v1/verify/${id}`, request);
    return bodyOf(Buffer.from(bytes).toString());
  } catch {
    // The node may be on its way back.
    return {};
  }
}
