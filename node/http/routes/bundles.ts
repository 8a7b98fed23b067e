import {
  BUNDLE_EXAMPLE,
  BUNDLE_VERDICT_EXAMPLE,
  BundleAnswerShape,
  BundleQueryShape,
  type BundleVerdictAnswer,
  BundleVerdictShape,
  PROOF_EXAMPLE,
  ProofAnswerShape,
} from '../../../protocol/api/bundles.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { isKeyRecordFor } from '../../../protocol/evidence/agent.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { JsonError } from '../../../protocol/json/value.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { BUNDLE_MAX_DEPTH, BundleShape } from '../../../protocol/verdict/bundle.ts';
import { FileError } from '../../../protocol/verdict/file-reader.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import { type Caller, covers, reaches } from '../../accounts/caller.ts';
import { BODY_BYTES } from '../../accounts/limits/route-weights.ts';
import { proofWindowEndsAt } from '../../verification/attestation/attestation-answer.ts';
import type { AnchoringView } from '../../verification/attestation/anchoring-view.ts';
import { completeBundle, publicProof } from '../../verification/bundles.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { FederationProofSources } from '../../verification/federation-proof.ts';
import { type BundleBytes, JudgingError } from '../../verification/judging-thread.ts';
import type { LinkedEvidence } from '../../verification/linked-evidence.ts';
import { isShortBundle, type PayloadAnswer, type Verifier } from '../../verification/verifier.ts';
import { askerOf } from '../asked-work.ts';
import { BodiesUnderWork, MAX_BODY_VALUES, notJson, readJsonBytes } from '../body.ts';
import { type AddressOf, placeOf } from '../home-only.ts';
import { Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import type { FreeRoute, KeyRoute, ParameterDocumentation } from '../route.ts';
import { recordPayloadRead } from './payload-read.ts';
import { RECORD_PARAMETER, recordParameter, requireFound } from './record-parameter.ts';
import { evidenceAnswer, payloadStateAnswer, problemsAnswer, verdictAnswer } from './verdict-answer.ts';

/** Of a bundle, in bytes (protocol §7). */
const MAX_BUNDLE_BYTES = 16 << 20;
/** The values of the largest request that is recorded, and as many for proofs and rosters. */
const MAX_BUNDLE_VALUES = 2 * MAX_BODY_VALUES;
/** Room for bundles that anyone brings: long ones take none of that of short ones. */
const SHORT_UNDER_WORK = new BodiesUnderWork(BODY_BYTES.shortBundles);
const LONG_UNDER_WORK = new BodiesUnderWork(BODY_BYTES.longBundles);
/** When a bundle that was not judged may be brought again. In seconds. */
const RETRY_AFTER_SECONDS = 2;
const JSON_TYPE = 'application/json; charset=utf-8';

const readQuery = queryReader(BundleQueryShape);

export interface BundleSources extends FederationProofSources {
  readonly self: NodeId;
  readonly addressOf: AddressOf;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly linked: (evidence: Evidence) => Promise<LinkedEvidence>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  readonly view: Pick<AnchoringView, 'of'>;
  readonly now: () => number;
}

/**
 * `GET /v1/bundles/:id`: the file that proves a record offline, for the account that made the record. The body is the
 * bare bundle; what there is to say of it beside stands in headers.
 */
export function bundleRoute(sources: BundleSources & { readonly auditLog: Pick<AuditLog, 'record'> }): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/bundles/:id',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The file that proves a record with no network',
      description:
        'For the account that made the record. The Developer tier gives it out for seven days, until ' +
        '`X-Proof-Window-Ends-At`; verification stays free for ever, and so does a bundle once it is fetched. ' +
        '`X-Linked-Truncated: true` says that more overrides are linked than the bundle holds, two by different persons ' +
        'coming first, or that the node does not hold the record itself yet and may lack others.',
      params: RECORD_PARAMETER,
      query: QUERY,
      answer: { shape: BundleAnswerShape, example: BUNDLE_EXAMPLE },
      headers: ['X-Proof-Window-Ends-At', 'X-Linked-Truncated'],
      problems: [
        'invalid-field',
        'attestation-not-found',
        'proof-window-expired',
        'not-yet-anchored',
        'payload-elsewhere',
        'payload-erased',
      ],
    },
    async answer({ params, query }, caller) {
      const id = recordParameter(params);
      const asked = readQuery(query);
      const evidence = requireFound(params, await sources.evidence(id));
      requireOwn(evidence.record, caller);
      const windowHeaders = requireProofWindow(evidence.record, caller, sources.now());
      if (asked.partial !== '1' && (await sources.view.of(evidence)).status !== 'confirmed') {
        throw new Problem('not-yet-anchored', 'The record is not confirmed yet; ?partial=1 gives what there is.');
      }
      const what = { disclosure: asked.disclosure === '1', linked: asked.linked === '1' };
      const { body, headers } = await givenBundle(sources, caller, evidence, what);
      if (what.disclosure) await recordPayloadRead(sources.auditLog, caller, id);
      return { body, headers: { ...windowHeaders, ...headers } };
    },
  };
}

const QUERY: Readonly<Record<string, ParameterDocumentation>> = {
  partial: {
    description:
      '`1`: before the record is confirmed, what there is: without a `decision` before the ledger made one, and without ' +
      'a `batch` before sealing.',
    shape: BundleQueryShape.properties.partial,
    example: '1',
  },
  disclosure: {
    description:
      '`1`: with salt and payload, which the node that made the record has alone; a line of the key-use log each time, ' +
      '`payload.read`.',
    shape: BundleQueryShape.properties.disclosure,
    example: '1',
  },
  linked: {
    description:
      '`1`: with the linked records that the evidence rules read: overrides, session, key of the agent; ' +
      'and the versions of the account’s statement that say which of them speak for the account.',
    shape: BundleQueryShape.properties.linked,
    example: '1',
  },
};

/** `POST /v1/bundles/verify`: the checks on a bundle that anyone brings, pinned to this federation. */
export function verifyBundleRoute({
  verifier,
  now,
}: {
  readonly verifier: Pick<Verifier, 'verifyBundle'>;
  readonly now: () => number;
}): FreeRoute {
  return {
    method: 'POST',
    path: '/v1/bundles/verify',
    access: 'free',
    crossOrigin: true,
    documentation: {
      summary: 'The checks on a bundle that anyone brings',
      description:
        'Pinned to this federation, and judged by this node’s own log: what the log knows otherwise is contradicted, and ' +
        'checkpoints that the node holds count beside those of the bundle. A bundle that does not hold is answered 200 ' +
        'with `verified: false`; the word of `verdict` says why. A public proof is a bundle too.',
      request: { shape: BundleShape, example: BUNDLE_EXAMPLE },
      answer: { shape: BundleVerdictShape, example: BUNDLE_VERDICT_EXAMPLE },
      problems: ['bundle-malformed'],
    },
    async answer({ context }) {
      const enter = (bytes: number): Disposable => {
        const underWork = isShortBundle(bytes) ? SHORT_UNDER_WORK : LONG_UNDER_WORK;
        return underWork.enter(bytes, askerOf(context.req));
      };
      using bundle = await readJsonBytes(context.req, { maxBytes: MAX_BUNDLE_BYTES }, enter);
      return { body: bundleAnswer(await judge(verifier, bundle.bytes), timestampOf(now())) };
    },
  };
}

async function judge(verifier: Pick<Verifier, 'verifyBundle'>, bundle: BundleBytes): Promise<Verdict> {
  try {
    return await verifier.verifyBundle(bundle, { maxDepth: BUNDLE_MAX_DEPTH, maxValues: MAX_BUNDLE_VALUES });
  } catch (error) {
    if (error instanceof JsonError) throw notJson(error);
    if (error instanceof JudgingError) {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Problem('dependency-unavailable', 'The bundle could not be judged at present.', {
        headers,
        cause: error,
      });
    }
    if (!(error instanceof FileError)) throw error;
    const place = error.pointer || 'its root';
    throw new Problem('bundle-malformed', `The bundle is malformed at ${place}: ${error.message}.`);
  }
}

/**
 * The bundle of a record, with its payload and with as many of the linked records as the caller may see, where they are
 * asked for. Throws `Problem` 403 and 409.
 */
export async function givenBundle(
  sources: BundleSources,
  caller: Caller,
  evidence: Evidence,
  asked: { readonly disclosure: boolean; readonly linked: boolean },
): Promise<{ readonly body: string; readonly headers: Readonly<Record<string, string>> }> {
  const disclosed = asked.disclosure ? await disclose(sources, evidence) : undefined;
  const found = asked.linked ? await sources.linked(evidence) : undefined;
  // Of a statement the claims are shown alone, which name no source of the caller's.
  const linked = found && [
    ...found.evidence.filter(({ record }) => mayHave(caller, evidence.record, record)),
    ...found.statements,
  ];
  const bundle = await completeBundle(sources, evidence, {
    ...(disclosed === undefined ? {} : { disclosed }),
    ...(linked === undefined ? {} : { linked }),
  });
  const headers = found?.truncated === true ? { 'X-Linked-Truncated': 'true' } : {};
  return { body: JSON.stringify(bundle), headers: { 'Content-Type': JSON_TYPE, ...headers } };
}

/** A bundle is for the account of its record, by a key that sees it. Throws `Problem` 403. */
export function requireOwn(record: AttestationRecord, { account, key }: Caller): void {
  if (record.account !== account.id) {
    throw new Problem('scope-forbidden', 'A bundle is given to the account that made the record.');
  }
  if (!reaches(key, record.sourceId)) {
    throw new Problem('scope-forbidden', 'The source of the record is not among those of this API key.');
  }
  if (!covers(key, record.submittedAt)) {
    throw new Problem('scope-forbidden', 'The record is not of the period that this API key may see.');
  }
}

/** A linked record of a source that the key reaches; the key of the record's agent is public. */
function mayHave({ key }: Caller, subject: AttestationRecord, linked: AttestationRecord): boolean {
  return (reaches(key, linked.sourceId) && covers(key, linked.submittedAt)) || isKeyRecordFor(subject, linked);
}

/** Headers that say when the proof window ends. Throws `Problem` 403 once it has. */
export function requireProofWindow(
  record: AttestationRecord,
  { account }: Caller,
  now: number,
): Record<string, string> {
  const endsAt = proofWindowEndsAt(record, account.tier);
  if (endsAt === null) return {};
  const proofWindowEnd = timestampOf(endsAt);
  if (now < endsAt) return { 'X-Proof-Window-Ends-At': proofWindowEnd };
  const detail = `The ${account.tier} tier gave out the proofs of this record until ${proofWindowEnd}.`;
  throw new Problem('proof-window-expired', detail, { extra: { proofWindowEndsAt: proofWindowEnd } });
}

/** Salt and payload, at the node that made the record. Throws `Problem` 403 and 409. */
export async function disclose(sources: BundleSources, evidence: Evidence): Promise<Exclude<PayloadAnswer, string>> {
  const { node } = evidence.record;
  if (node !== sources.self) {
    const detail = `The payload is at ${node}, which made the record, and is disclosed there alone.`;
    throw new Problem('payload-elsewhere', detail, { extra: placeOf('node', node, sources.addressOf) });
  }
  const payload = await sources.payload(evidence);
  if (typeof payload !== 'string') return payload;
  if (payload === 'erased') {
    throw new Problem('payload-erased', 'The payload was erased and cannot be disclosed; the proof without it stands.');
  }
  throw new Problem('scope-forbidden', `The payload is ${payload} and cannot be disclosed.`);
}

function bundleAnswer(verdict: Verdict, at: Timestamp): BundleVerdictAnswer {
  const { verified, checks, facts, status, problems, record, linked } = verdict;
  return {
    verified,
    witnessed: facts.witnessed,
    checks,
    payloadState: payloadStateAnswer(facts.payload),
    status,
    problems: problemsAnswer(problems),
    verdict: verdictAnswer(verdict),
    record,
    ...evidenceAnswer(verdict, at),
    linked: linked.map(({ id, kind, node, holds, speaks, accountStatement, word, problems: found }) => ({
      id,
      kind,
      node,
      holds,
      speaks,
      accountStatement,
      word,
      problems: problemsAnswer(found),
    })),
  };
}

interface ProofSources extends FederationProofSources {
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
}

/** `GET /v1/proofs/:id`: what proves id, kind, node and time of a record, for anyone who has the id. */
export function proofRoute(sources: ProofSources): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/proofs/:id',
    access: 'free',
    documentation: {
      summary: 'The public proof of a record',
      description:
        'For anyone who has the id, at any node. A bundle without the body of its record: it proves, with no network, ' +
        'that the node made a record of this id and kind at this time, and shows no more than the verification does. ' +
        'Before the record is confirmed it holds what there is.',
      params: RECORD_PARAMETER,
      answer: { shape: ProofAnswerShape, example: PROOF_EXAMPLE },
      problems: ['invalid-field', 'attestation-not-found'],
    },
    async answer({ params }) {
      const id = recordParameter(params);
      const evidence = requireFound(params, await sources.evidence(id));
      const headers = { 'Content-Type': 'application/json; charset=utf-8' };
      return { body: JSON.stringify(await publicProof(sources, evidence)), headers };
    },
  };
}
