import { AttestRequestShape } from '../../../protocol/api/attest.ts';
import { readRfc3339, timestampOf } from '../../../protocol/time.ts';
import type { Account } from '../../accounts/accounts.ts';
import { attestDraft } from '../../attestation/decision-drafts.ts';
import { readJsonBody } from '../body.ts';
import { fieldError, Problem } from '../problem.ts';
import type { KeyRoute } from '../route.ts';
import { unknownMembers, validator } from '../validation.ts';
import {
  additionalWarnings,
  type Attesting,
  body,
  checkSession,
  MAX_CLOCK_SKEW_MS,
  requireSmall,
  settle,
  submitOnce,
} from './attesting.ts';

const validate = validator(AttestRequestShape);
const KNOWN = new Set(Object.keys(AttestRequestShape.properties));

/** `POST /v1/attest` (SPEC §2.1, DOMAIN §3.2): one decision, answered once it is signed and on the disk. */
export function attestRoute(attesting: Attesting): KeyRoute {
  return {
    method: 'POST',
    path: '/v1/attest',
    access: 'key',
    async answer({ context }, account) {
      const { value } = await readJsonBody(context.req, body);
      const request = validate(value);
      const additional = unknownMembers(value, KNOWN);
      checkClientTime(request.clientTimestamp, attesting.now());
      checkSession(request.sessionId);
      checkAnchorMode(request.anchorMode, account);
      const draft = attestDraft(account.id, { request, body: value, additional });
      requireSmall(draft, additional);
      const record = await submitOnce(attesting, context, draft);
      if (request.anchorMode === 'direct') void attesting.sealNow();
      const { claims } = record;
      return settle(attesting, context, account, record, {
        success: true,
        attestationId: record.id,
        status: 'pending',
        submittedAt: record.submittedAt,
        topic: attesting.topic,
        verifyUrl: attesting.verifyUrl(record.id),
        warnings: additionalWarnings(additional),
        inputHash: claims.inputHash ?? null,
        outputHash: claims.outputHash ?? null,
        dataHash: claims.dataHash ?? null,
        sourceSeq: record.sourceSeq,
      });
    },
  };
}

function checkClientTime(text: string | undefined, now: number): void {
  if (text === undefined) return;
  let at: number;
  try {
    at = readRfc3339(text);
  } catch {
    const error = fieldError(['clientTimestamp'], 'format', 'must be an RFC 3339 time');
    throw new Problem('invalid-field', 'clientTimestamp must be an RFC 3339 time', { errors: [error] });
  }
  if (at <= now + MAX_CLOCK_SKEW_MS) return;
  const detail = `clientTimestamp lies after ${timestampOf(now)}`;
  throw new Problem('time-in-future', detail, { errors: [fieldError(['clientTimestamp'], 'future', detail)] });
}

function checkAnchorMode(mode: 'batch' | 'direct' | undefined, account: Account): void {
  if (mode !== 'direct' || account.tier === 'enterprise' || account.tier === 'unmetered') return;
  throw new Problem('tier-forbidden', 'anchorMode direct is part of the Enterprise tier', {
    errors: [fieldError(['anchorMode'], 'tier', 'is part of the Enterprise tier')],
  });
}
