import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  type Audit,
  VERIFY_AUDIT_EXAMPLE,
  VerifyAuditRequestShape,
  VerifyAuditShape,
} from '../../../protocol/api/verify-audit.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { isIdOf, recordOfAnyId } from '../../../protocol/object-ids.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import type { Draft } from '../../intake/draft.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import { type Auditor, warningsOf } from '../../services/audits/auditor.ts';
import { fieldProblem, type Problem } from '../problem.ts';
import type { PaidRoute } from '../route.ts';
import { recordNotFound } from '../routes/record-parameter.ts';
import { validator } from '../validation.ts';
import { ATTESTATION_BLANKS, attestationTail, type VerifyUrl } from './attested-summary.ts';

/** Source that audits are recorded under. */
const SOURCE_ID = 'meridian/audit';

/**
 * The record of an audit, and the salt with which it commits to it. The payload names the audited record; no link does:
 * anyone who likes to pay could otherwise bury what links to a record under audits of it.
 */
function auditDraft(account: string, audit: Audit): { readonly draft: Draft; readonly salt: string } {
  const salt = randomBytesPooled(SALT_BYTES);
  const draft: Draft = {
    kind: 'audit',
    account,
    sourceId: SOURCE_ID,
    payload: canonicalize(audit),
    claims: { channel: 'tiered', verdict: audit.verdict, observedAt: audit.auditedAt },
    links: {},
    salt,
  };
  return { draft, salt: encodeBase64url(salt) };
}

export interface AuditServices {
  readonly auditor: Pick<Auditor, 'find' | 'audit'>;
  readonly verifyUrl: VerifyUrl;
}

const checkRequest = validator(VerifyAuditRequestShape);

/** `POST /v1/x402/verify-audit` (api-rules §4.1): of any record, by anyone. */
export function verifyAuditRoute({ auditor, verifyUrl }: AuditServices): PaidRoute {
  return {
    method: 'POST',
    path: '/v1/x402/verify-audit',
    access: 'paid',
    service: 'verify-audit',
    documentation: {
      summary: 'An audit of one record, with independent cross-checks and a verdict',
      description:
        'Six checks make the verdict: `record-proof` (the five checks of every verification), `ledger-message` (read ' +
        "from a mirror again and compared byte for byte), `consensus-time`, `signing-keys` (the keys' history), " +
        '`source-sequence` (the records next to it), `other-node` (up to three other nodes are asked for their own ' +
        'verification; the majority of those who answer counts). One that fails is a `fail`; one that cannot be made ' +
        'now is `inconclusive`, which is neither charged nor recorded. The other checks are told and change nothing; ' +
        '`warnings` names those that fail, and a consensus time of a day or more after the record. ' +
        'Names no account, no source and no person. The payload of the record is the answer from `verdict` to ' +
        '`subject`: with `salt` anyone can check that `payloadHash` commits to it.',
      request: { shape: VerifyAuditRequestShape, example: { attestationId: EXAMPLE_IDS.decision } },
      answer: { shape: VerifyAuditShape, example: VERIFY_AUDIT_EXAMPLE },
      problems: ['missing-field', 'invalid-field', 'attestation-not-found', 'dependency-unavailable'],
    },
    async prepare(_call, body) {
      const { attestationId } = checkRequest(body);
      const id = recordOfAnyId(attestationId);
      if (id === undefined) throw notAnId();
      const found = await auditor.find(id);
      const isNamed = found === 'damaged' || (found !== undefined && isIdOf(attestationId, found.record));
      if (!isNamed) throw recordNotFound(attestationId);
      return async ({ account, recording }) => {
        const audit = await auditor.audit(id, found);
        const warnings = warningsOf(audit.checks);
        if (audit.verdict === 'inconclusive') return { body: { success: true, ...audit, warnings }, charged: false };
        const { draft, salt } = auditDraft(account, audit);
        const record = await recording.prepareOne(draft);
        return {
          body: { success: true, ...audit, salt, warnings, attestation: attestationTail(record, verifyUrl) },
          blanks: ATTESTATION_BLANKS,
        };
      };
    },
  };
}

function notAnId(): Problem {
  return fieldProblem('attestationId', 'pattern', 'is not an attestation id');
}
