import { CERTIFICATE_EXAMPLE, CERTIFICATE_TYPE } from '../../../protocol/api/certificate.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { certificateFacts, certificateName } from '../../certificates/certificate-facts.ts';
import { CertificateError, type CertificateThread } from '../../certificates/certificate-thread.ts';
import { completeBundle, publicProof } from '../../verification/bundles.ts';
import type { FederationProofSources } from '../../verification/federation-proof.ts';
import type { VerifiedRecord, Verifier } from '../../verification/verifier.ts';
import { Problem } from '../problem.ts';
import type { Answer, KeyRoute } from '../route.ts';
import { requireOwn, requireProofWindow } from './bundles.ts';
import { RECORD_PARAMETER, recordNotFound, recordParameter, requireFound } from './record-parameter.ts';

/** When a certificate that was not made may be asked for again. In seconds. */
const RETRY_AFTER_SECONDS = 2;

export interface CertificateSources extends FederationProofSources {
  readonly self: NodeId;
  /** Public address of this node, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly verifier: Pick<Verifier, 'verifyRecord'>;
  readonly certificates: Pick<CertificateThread, 'make'>;
  readonly now: () => number;
}

/**
 * `GET /v1/certificates/:id`: a page for people, with the file that proves the record inside. Without a key that is the
 * public proof, as `GET /v1/proofs/:id` answers it, and by a key of the record's account the bundle, as
 * `GET /v1/bundles/:id?partial=1` does.
 */
export function certificateRoute(sources: CertificateSources): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/certificates/:id',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The certificate of a record: a page for people, with its proof inside',
      description:
        'A PDF of one page: in plain words what this node found about the record, the five checks, who signed and who ' +
        'witnessed, the fingerprint of the federation, what it does not prove, and a QR code to the page of the record. ' +
        'Attached is the file that proves it: without a key the public proof, for anyone who has the id, at any node; by ' +
        'a key of the account that made the record the bundle, for as long as bundles are given out. The page is the ' +
        'node’s word and proves nothing by itself; the attached file is checked with no network, under a pin of the ' +
        'reader’s own. The same finding with the same file is the same PDF, byte for byte.',
      params: RECORD_PARAMETER,
      answer: { contentType: CERTIFICATE_TYPE, example: CERTIFICATE_EXAMPLE },
      headers: ['Content-Disposition', 'X-Proof-Window-Ends-At'],
      problems: ['invalid-field', 'attestation-not-found', 'proof-window-expired', 'dependency-unavailable'],
    },
    async withoutKey({ params }) {
      const found = await findRecord(sources, recordParameter(params));
      requireFound(params, found.evidence);
      const proof = JSON.stringify(await publicProof(sources, found.evidence));
      return certificate(sources, found, { proof, showsBody: false });
    },
    async answer({ params }, caller) {
      const found = await findRecord(sources, recordParameter(params));
      const { record } = requireFound(params, found.evidence);
      requireOwn(record, caller);
      const headers = requireProofWindow(record, caller, sources.now());
      const proof = JSON.stringify(await completeBundle(sources, found.evidence));
      return certificate(sources, found, { proof, showsBody: true }, headers);
    },
  };
}

/** Throws `Problem` 404. */
export async function findRecord(
  { verifier }: Pick<CertificateSources, 'verifier'>,
  id: RecordId,
): Promise<VerifiedRecord> {
  const found = await verifier.verifyRecord(id);
  if (found === undefined) throw recordNotFound(id);
  return found;
}

interface AttachedProof {
  readonly proof: string;
  readonly showsBody: boolean;
}

/** The page of a record with a file that proves it attached. Throws `Problem` 503. */
export async function certificate(
  { self, baseUrl, certificates }: Pick<CertificateSources, 'baseUrl' | 'certificates' | 'self'>,
  found: VerifiedRecord,
  { proof, showsBody }: AttachedProof,
  windowHeaders: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const facts = certificateFacts(found, { reportedBy: self, baseUrl: baseUrl(), showsBody });
  const headers = {
    'Content-Type': CERTIFICATE_TYPE,
    'Content-Disposition': `inline; filename="${certificateName(facts)}"`,
    ...windowHeaders,
  };
  try {
    return { body: await certificates.make(facts, proof), headers };
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new Problem('dependency-unavailable', 'The certificate could not be made at present.', {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      cause: error,
    });
  }
}
