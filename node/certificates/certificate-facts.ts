import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { RecordKind } from '../../protocol/statement/vocabulary.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { RecordVerdict } from '../../protocol/verdict/verdict.ts';
import type { Evidence } from '../verification/evidence.ts';
import type { VerifiedRecord } from '../verification/verifier.ts';

/** What a node found about a record, as its certificate says it. */
type FoundVerdict = Pick<
  RecordVerdict,
  'checks' | 'facts' | 'federation' | 'ledger' | 'problems' | 'restsOn' | 'witnesses' | 'word'
>;

/** What the account said of the record, which nobody checked. Only the bundle shows it. */
export interface AssertedFacts {
  readonly account: string;
  readonly sourceId: string;
  /** Null where none is named. */
  readonly model: string | null;
}

/** All that a certificate says beside its attached file. No clock is among it: the same facts make the same bytes. */
export interface CertificateFacts {
  readonly id: RecordId;
  readonly kind: RecordKind;
  /** The node that made the record. */
  readonly node: NodeId;
  readonly submittedAt: Timestamp;
  /** The key that signed its receipt. */
  readonly keyId: Sha256Hash;
  /** The node that answers. */
  readonly reportedBy: NodeId;
  /** The page where anyone sees the record. */
  readonly pageUrl: string;
  readonly verdict: FoundVerdict;
  /** Null where the attached file is the public proof. */
  readonly asserted: AssertedFacts | null;
}

/** Where a certificate is made, and what for. */
export interface CertificatePlace {
  readonly reportedBy: NodeId;
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: string;
  /** Whether the account's bundle is attached, or else the public proof. */
  readonly showsBody: boolean;
}

/** The facts of a certificate from what a node found. Throws `StatementError` where the receipt does not read. */
export function certificateFacts(
  { verdict, evidence }: Pick<VerifiedRecord, 'evidence' | 'verdict'>,
  { reportedBy, baseUrl, showsBody }: CertificatePlace,
): CertificateFacts {
  const { checks, facts, federation, ledger, problems, restsOn, witnesses, word } = verdict;
  const { id, kind, node, submittedAt } = evidence.record;
  return {
    id,
    kind,
    node,
    submittedAt,
    keyId: keyIdOf(evidence),
    reportedBy,
    pageUrl: `${baseUrl}/v/${id}`,
    verdict: { checks, facts, federation, ledger, problems, restsOn, witnesses, word },
    asserted: showsBody ? assertedBy(evidence.record) : null,
  };
}

/** Name of the file inside a certificate. */
export function attachmentName({ id, asserted }: Pick<CertificateFacts, 'asserted' | 'id'>): string {
  return `${asserted === null ? 'proof' : 'bundle'}-${id}.json`;
}

/** Name of the certificate itself. */
export function certificateName({ id }: Pick<CertificateFacts, 'id'>): string {
  return `certificate-${id}.pdf`;
}

function keyIdOf({ proof }: Evidence): Sha256Hash {
  return groupStatement.parse(proof.receipt.statement).keyId;
}

function assertedBy({ account, sourceId, claims }: AttestationRecord): AssertedFacts {
  const model = [claims.modelId, claims.modelVersion].filter((part) => part !== undefined).join(' ');
  return { account, sourceId, model: model === '' ? null : model };
}
