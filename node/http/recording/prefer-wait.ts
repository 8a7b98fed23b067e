import type { Context } from 'koa';
import type { Status } from '../../../protocol/verdict/verdict.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { HeldPlaces, NoPlaceError } from '../../accounts/limits/held-places.ts';
import { LEDGER_WAITS } from '../../accounts/limits/route-weights.ts';
import { askerOf } from '../asked-work.ts';
import type { Recorder } from './recorder.ts';

/** Longest `Prefer: wait` that is honoured. In seconds. */
const MAX_WAIT_SECONDS = 120;
/** Of the process. */
const WAITS = new HeldPlaces(LEDGER_WAITS);
const WAIT = /(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:$|[,;])/i;

/** The status that a record reached, and how many seconds of waiting were granted. */
export interface Waited {
  readonly status: Status;
  readonly seconds: number;
}

/**
 * With `Prefer: wait=N` (RFC 7240 §4.3): waits up to N seconds for the ledger, or until the caller hangs up. The preference
 * is passed over where as many wait as may.
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
