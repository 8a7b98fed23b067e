import type { AttestRequest } from '../../../protocol/api/attest.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { fieldError, Problem } from '../problem.ts';
import { readTime, requirePast } from './asserted-times.ts';

/**
 * The asserted time of an event in the form that is signed; undefined where none is. `now` is in epoch milliseconds.
 * Throws `Problem` `invalid-field` where it is no time, `time-in-future` where it is more than 5 minutes ahead.
 */
export function occurredAtOf(
  { occurredAt }: { readonly occurredAt?: string },
  now: () => number,
): Timestamp | undefined {
  if (occurredAt === undefined) return undefined;
  const time = readTime('occurredAt', occurredAt);
  requirePast('occurredAt', time, now());
  return timestampOf(time.first);
}

/**
 * Throws `Problem` `invalid-field` where the top of a request names another model or risk level than its `model_ref` or
 * `complianceMeta`.
 */
export function requireOneClaim({ modelId, modelVersion, riskLevel, ...request }: AttestRequest): void {
  const { model_ref: model, complianceMeta: meta } = request;
  requireSame(['modelId'], modelId, ['model_ref', 'model_id'], model?.model_id);
  requireSame(['modelVersion'], modelVersion, ['model_ref', 'model_version'], model?.model_version);
  requireSame(['riskLevel'], riskLevel, ['complianceMeta', 'riskLevel'], meta?.riskLevel);
}

function requireSame(top: string[], given: string | undefined, within: string[], named: string | undefined): void {
  if (given === undefined || named === undefined || given === named) return;
  const message = `contradicts ${top.join('.')}`;
  const errors = [fieldError(within, 'contradiction', message), fieldError(top, 'contradiction', 'is said otherwise')];
  throw new Problem('invalid-field', `${within.join('.')} ${message}`, { errors });
}
