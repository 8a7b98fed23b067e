import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  type Audit,
  type AuditCheck,
  MANDATORY_CHECKS,
  type MandatoryCheck,
  OPTIONAL_CHECKS,
  type OptionalCheck,
} from '../../../protocol/api/verify-audit.ts';
import { coveredAs, lastRecordEnd } from '../../../protocol/compliance/retention.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import { type NodeId, nodeOfRecord, type RecordId } from '../../../protocol/ids.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { type ConsensusTimestamp, timestampOf, timestampOfConsensus } from '../../../protocol/time.ts';
import type { ProblemCode } from '../../../protocol/verdict/problem.ts';
import type { Locks } from '../../governance/locks.ts';
import { duplicateTable } from '../../intake/once-guard.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import type { Store } from '../../store/store.ts';
import { anchorExpectedBy } from '../../verification/attestation/attestation-answer.ts';
import { type Evidence, EvidenceDamagedError } from '../../verification/evidence.ts';
import type { PayloadAnswer, VerifiedRecord, Verifier } from '../../verification/verifier.ts';
import {
  checkConsensusTime,
  type LedgerMessageSources,
  type LedgerReading,
  readLedgerMessage,
} from './ledger-message.ts';
import { askOtherNodes, judgeOtherNodes, type OtherNodesOptions, ownResult } from './other-nodes.ts';
import { failed, type Outcome, passed, skipped, warningIn } from './outcome.ts';
import { checkSourceSequence } from './source-sequence.ts';

/** A key that signed something of the record, and what. */
interface Use {
  readonly what: string;
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
}

type KeyHistory = Pick<FederationKeys, 'directory'>;

/** Raw public keys of ML-DSA-65 have this length (FIPS 204). In bytes. */
const ML_DSA_65_KEY_BYTES = 1952;
/** What a verdict says of keys that do not hold. */
const KEY_PROBLEMS: readonly ProblemCode[] = [
  'key-compromised',
  'key-unknown',
  'signature-invalid',
  'signature-missing',
];

/**
 * M4: the verdict finds nothing against the keys that signed the record's receipt and its batch: an identity key of
 * their node certified them, and they were not compromised before the ledger gave the batch its time.
 */
function checkSigningKeys(
  keys: KeyHistory,
  { verdict, evidence }: VerifiedRecord,
  consensus: ConsensusTimestamp | null,
): Outcome {
  const faults = verdict.problems.filter(({ code }) => KEY_PROBLEMS.includes(code));
  if (faults.length > 0) return failed(faults.map(({ detail }) => detail).join('; '));
  if (consensus === null) return skipped('it is not settled when the ledger gave the batch its time');
  const uses = usesOf(evidence);
  const unknown = uses.find(({ node, keyId }) => keys.directory.get(node, keyId) === undefined);
  if (unknown !== undefined) {
    return failed(`${unknown.what}: key ${unknown.keyId} was not published by ${unknown.node}`);
  }
  const ids = [...new Set(uses.map(({ keyId }) => keyId))];
  const isRevoked = uses.some(({ node, keyId }) => keys.directory.revocation(node, keyId) !== undefined);
  return passed(
    `published, valid and standing at ${consensus}: ${ids.join(', ')}${isRevoked ? '; revoked later' : ''}`,
  );
}

/** O5: by the length of the raw keys, which the certificates bind to the key ids. */
function checkAlgorithm(keys: KeyHistory, evidence: Evidence): Outcome {
  const found = usesOf(evidence).map(({ node, keyId }) => keys.directory.get(node, keyId)?.publicKey.length);
  return found.every((length) => length === ML_DSA_65_KEY_BYTES)
    ? passed('ML-DSA-65 (FIPS 204), SHA-256: accepted')
    : failed('a key is not one of ML-DSA-65');
}

function usesOf({ batch, proof }: Evidence): readonly Use[] {
  const receipt: Use = { what: 'the receipt', ...groupStatement.parse(proof.receipt.statement) };
  return batch === undefined ? [receipt] : [receipt, { what: 'the envelope', ...batch.envelope }];
}

/** Faults that are told by name. */
const MAX_NAMED = 5;

/** M1: the verdict's facts of the record itself, from the stored bytes. Whether it is on the ledger is M2's to say. */
function checkRecordProof({ verdict: { checks, facts, problems } }: VerifiedRecord): Outcome {
  const { leafRederived, payloadHashMatch, proofWalk, bundleBinding, sigValid } = checks;
  const holds = leafRederived && proofWalk && bundleBinding && sigValid && !facts.contradicted;
  if (holds && payloadHashMatch) return passed('leaf, payload, proofs, binding and signatures hold');
  if (holds && facts.payload !== 'disclosed' && facts.payload !== 'damaged') {
    return passed(`leaf, proofs, binding and signatures hold; the payload was not at hand (${facts.payload})`);
  }
  const codes = [...new Set(problems.map(({ code }) => code))].slice(0, MAX_NAMED);
  return failed(`it does not hold: ${codes.join(', ')}`);
}

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

/**
 * Audits records: the verification that anyone can have, and cross-checks that do not rest on this node's own store.
 */
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

interface CircumstanceSources {
  readonly self: NodeId;
  readonly store: Store;
  readonly locks: Pick<Locks, 'covering'>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  readonly now: () => number;
}

/** O1: the records linked to it that its evidence rests on: reviews, incidents, session, agent's key. */
function checkLinked({ verdict: { linked }, links }: VerifiedRecord): Outcome {
  if (linked.length === 0) return skipped('no linked record is at hand');
  const holding = linked.filter(({ holds }) => holds).length;
  const detail = `${holding} of ${linked.length} linked records hold${links.truncated ? ', and there are more' : ''}`;
  return holding === linked.length ? passed(detail) : failed(detail);
}

/** O2: whether a lock or a legal hold keeps it. Locks are known at the node that took them. */
async function checkLock({ self, locks, now }: CircumstanceSources, { record }: Evidence): Promise<Outcome> {
  if (record.node !== self) return skipped(`the node ${record.node} knows of its locks`);
  const state = await locks.covering(record, coveredAs(record));
  const end = lastRecordEnd(state, Date.parse(record.submittedAt));
  if (!state.held && (end === null || end <= now())) return skipped('no retention lock is in force');
  return passed(state.held ? 'under a legal hold' : 'under a retention lock');
}

/**
 * O3: whether the request was recorded twice. Payload hashes are salted, so equal payloads do not show; the guard
 * against identical requests to `/v1/attest` does, where the payload is at hand.
 */
async function checkDuplicate({ self, store, payload }: CircumstanceSources, evidence: Evidence): Promise<Outcome> {
  const { record } = evidence;
  if (record.kind !== 'decision' || record.claims.channel !== 'direct') {
    return skipped('identical requests are not told apart on this channel');
  }
  if (record.node !== self) return skipped(`the node ${record.node} knows its requests`);
  const opened = await payload(evidence);
  if (typeof opened === 'string') return skipped(`the payload is not at hand (${opened})`);
  const first = await duplicateTable.get(store, record.account, hash('sha256', opened.text, 'hex'));
  if (first === undefined) return skipped('it is not among the guarded requests');
  return first === record.id
    ? passed('no other record has the same request')
    : failed('the same request was recorded before');
}

/**
 * O4: whether its root was on the ledger when it was promised to be. The tier is its owner's matter: the longest
 * promise.
 */
function checkDelay({ record }: Evidence, consensus: ConsensusTimestamp | null): Outcome {
  if (consensus === null) return skipped('it is not settled when the ledger gave the batch its time');
  const late = Date.parse(timestampOfConsensus(consensus)) - anchorExpectedBy(record);
  return late <= 0 ? passed('on the ledger within the promise') : failed(`on the ledger ${late} ms after the promise`);
}

export type Outcomes = Readonly<Record<MandatoryCheck | OptionalCheck, Outcome>>;

/** The checks in their order. */
export function listChecks(outcomes: Outcomes): AuditCheck[] {
  const list = (names: readonly (MandatoryCheck | OptionalCheck)[], mandatory: boolean): AuditCheck[] =>
    names.map((name) => ({ name, result: outcomes[name].result, mandatory, detail: outcomes[name].detail }));
  return [...list(MANDATORY_CHECKS, true), ...list(OPTIONAL_CHECKS, false)];
}

/** A mandatory check that fails is a `fail`, else one that could not be made leaves it open. The others have no say. */
export function verdictOf(checks: readonly AuditCheck[]): Audit['verdict'] {
  const results = checks.filter(({ mandatory }) => mandatory).map(({ result }) => result);
  if (results.includes('fail')) return 'fail';
  return results.includes('skipped') ? 'inconclusive' : 'pass';
}

/** The verdict in a sentence. */
export function summaryOf(checks: readonly AuditCheck[]): string {
  const mandatory = checks.filter((check) => check.mandatory);
  const named = (result: AuditCheck['result']): string[] =>
    mandatory.filter((check) => check.result === result).map(({ name }) => name);
  const [failing, open] = [named('fail'), named('skipped')];
  if (failing.length > 0) return `Of ${mandatory.length} mandatory checks these fail: ${failing.join(', ')}.`;
  if (open.length > 0) return `Of ${mandatory.length} mandatory checks these could not be made: ${open.join(', ')}.`;
  return `All ${mandatory.length} mandatory checks pass.`;
}

/** What changes no verdict and should be looked at: checks that pass with a warning, and optional ones that fail. */
export function warningsOf(checks: readonly AuditCheck[]): string[] {
  return checks.flatMap((check) => {
    const warning = check.result === 'fail' && !check.mandatory ? check.detail : warningIn(check);
    return warning === undefined ? [] : [`${check.name}: ${warning}`];
  });
}

/** What is left to say of a record that this node holds and cannot read any more. */
export function damagedOutcomes(): Outcomes {
  const open = skipped('what this node holds of it cannot be read');
  return {
    'record-proof': failed('what this node holds of it cannot be read'),
    'ledger-message': open,
    'consensus-time': open,
    'signing-keys': open,
    'source-sequence': open,
    'other-node': open,
    'linked-records': open,
    'retention-lock': open,
    'duplicate-request': open,
    'anchoring-delay': open,
    'signature-algorithm': open,
  };
}
