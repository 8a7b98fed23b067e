import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Audit } from '../../../protocol/api/verify-audit.ts';
import { nodeOfRecord, type RecordId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import { type Evidence, EvidenceDamagedError } from '../../verification/evidence.ts';
import type { VerifiedRecord, Verifier } from '../../verification/verifier.ts';
import { damagedOutcomes, listChecks, type Outcomes, summaryOf, verdictOf } from './audit-report.ts';
import { checkDelay, checkDuplicate, checkLinked, checkLock, type CircumstanceSources } from './circumstances.ts';
import {
  checkConsensusTime,
  type LedgerMessageSources,
  type LedgerReading,
  readLedgerMessage,
} from './ledger-message.ts';
import { askOtherNodes, judgeOtherNodes, type OtherNodesOptions, ownResult } from './other-nodes.ts';
import { skipped } from './outcome.ts';
import { checkRecordProof } from './record-proof.ts';
import { checkAlgorithm, checkSigningKeys } from './signing-keys.ts';
import { checkSourceSequence } from './source-sequence.ts';

export interface AuditorOptions extends CircumstanceSources, LedgerMessageSources, OtherNodesOptions {
  readonly keys: FederationKeys;
  readonly verifier: Pick<Verifier, 'verifyRecord'>;
  /** Evidence that this node holds, or that it can ask the record's own node for. Throws `EvidenceDamagedError`. */
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly log: Logger;
  /** Bound on a whole audit, in milliseconds. */
  readonly auditMs?: number;
}

/** A record that is there to be audited. `damaged`: what this node holds of it cannot be read. */
export type Auditable = Evidence | 'damaged';

/** Bound on a whole audit, whatever hangs: mirrors, other nodes, the origin. In milliseconds. */
const AUDIT_MS = 7_000;
const TOO_LATE = skipped('it could not be made in time');
const UNREAD: LedgerReading = { outcome: TOO_LATE, consensusTimestamp: null };
const NOTHING: Audit['subject'] = { recordKind: null, status: null, submittedAt: null, consensusTimestamp: null };

/** Audits records: the verification that anyone can have, and cross-checks that do not rest on this node's own store. */
export class Auditor {
  readonly #options: AuditorOptions;

  constructor(options: AuditorOptions) {
    this.#options = options;
  }

  /** Undefined where no node at hand knows the record. */
  async find(id: RecordId): Promise<Auditable | undefined> {
    try {
      return await this.#options.evidence(id);
    } catch (error) {
      if (error instanceof EvidenceDamagedError) return 'damaged';
      throw error;
    }
  }

  /** All checks, beside each other. What cannot be made in time counts as skipped. Records nothing. */
  async audit(id: RecordId, found: Auditable): Promise<Audit> {
    if (found === 'damaged') return this.#report(id, damagedOutcomes(), NOTHING);
    const over = new AbortController();
    try {
      return await this.#auditWithin(id, found, over.signal);
    } finally {
      over.abort();
    }
  }

  async #auditWithin(id: RecordId, found: Evidence, signal: AbortSignal): Promise<Audit> {
    const options = this.#options;
    const inTime = this.#inTime(id, signal);
    const [verified, ledger, others, sequence, lock, duplicate] = await Promise.all([
      inTime<VerifiedRecord | null>(async () => (await options.verifier.verifyRecord(id)) ?? null, null),
      inTime(() => readLedgerMessage(options, found, signal), UNREAD),
      inTime(() => askOtherNodes(options, id, nodeOfRecord(id), signal), []),
      inTime(() => checkSourceSequence(options, found), TOO_LATE),
      inTime(() => checkLock(options, found), TOO_LATE),
      inTime(() => checkDuplicate(options, found), TOO_LATE),
    ]);
    const own = found.decision?.consensusTimestamp ?? null;
    const consensus = ledger.consensusTimestamp ?? own;
    const outcomes: Outcomes = {
      'record-proof': verified === null ? TOO_LATE : checkRecordProof(verified),
      'ledger-message': ledger.outcome,
      'consensus-time': checkConsensusTime(found, ledger.consensusTimestamp),
      'signing-keys': verified === null ? TOO_LATE : checkSigningKeys(options.keys, verified, consensus),
      'source-sequence': sequence,
      'other-node': verified === null ? TOO_LATE : judgeOtherNodes(ownResult(verified), others),
      'linked-records': verified === null ? TOO_LATE : checkLinked(verified),
      'retention-lock': lock,
      'duplicate-request': duplicate,
      'anchoring-delay': checkDelay(found, consensus),
      'signature-algorithm': checkAlgorithm(options.keys, found),
    };
    const { kind: recordKind, submittedAt } = found.record;
    const status = verified?.verdict.status ?? null;
    return this.#report(id, outcomes, { recordKind, status, submittedAt, consensusTimestamp: consensus });
  }

  #report(id: RecordId, outcomes: Outcomes, subject: Audit['subject']): Audit {
    const { self, now } = this.#options;
    const checks = listChecks(outcomes);
    return {
      verdict: verdictOf(checks),
      attestationId: id,
      auditedAt: timestampOf(now()),
      auditorNode: self,
      checks,
      summary: summaryOf(checks),
      subject,
    };
  }

  /** Runs a check until the audit's time is up; one that cannot be made comes to what is said in its place. */
  #inTime(id: RecordId, signal: AbortSignal) {
    const { log, auditMs = AUDIT_MS } = this.#options;
    const deadline = sleep(auditMs, undefined, { signal }).catch(() => undefined);
    return async <Value>(check: () => Promise<Value>, otherwise: Value): Promise<Value> => {
      const made = check().catch((error: unknown) => {
        log.warn({ err: error, id }, 'a check of an audit could not be made');
        return otherwise;
      });
      return Promise.race([made, deadline.then(() => otherwise)]);
    };
  }
}
