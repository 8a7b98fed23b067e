import { BundleError } from '../../../protocol/bundle/bundle.ts';
import type { Verdict } from '../../../protocol/bundle/verdict.ts';

import type { RecordId } from '../../../protocol/ids.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import type { FederationKeys } from '../../federation/federation-keys.ts';
import { completeBundle } from '../../verification/bundles.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { PayloadAnswer, Verifier } from '../../verification/verifier.ts';
import { readJsonBody } from '../body.ts';
import { Problem } from '../problem.ts';
import type { FreeRoute, KeyRoute } from '../route.ts';
import { recordNotFound, recordParameter } from './record-parameter.ts';

/** A bundle with the largest payload, its proofs, 16 witnesses and the rosters of a large federation. In bytes. */
const MAX_BUNDLE_BYTES = 8 << 20;
/** A payload may be as deep as a request; the bundle adds a few levels. */
const MAX_BUNDLE_DEPTH = 40;
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

export interface BundleSources {
  readonly keys: FederationKeys;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
}

/** `GET /v1/bundles/:id`: the file that proves a record offline, for the account that made the record. */
export function bundleRoute(sources: BundleSources): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/bundles/:id',
    access: 'key',
    scope: 'proof:read',
    async answer({ params, query }, { account }) {
      const id = recordParameter(params);
      const evidence = await sources.evidence(id);
      if (evidence === undefined) throw recordNotFound(id);
      if (evidence.record.account !== account.id) {
        throw new Problem('scope-forbidden', 'A bundle is given to the account that made the record.');
      }
      if (evidence.bundle.anchor === null && query.get('partial') !== '1') {
        throw new Problem('not-yet-anchored', 'The record is not on the ledger yet; ?partial=1 gives what there is.');
      }
      const disclosed = query.get('disclosure') === '1' ? await disclose(sources, evidence) : undefined;
      return { body: JSON.stringify(completeBundle(evidence, sources.keys, disclosed)), headers: JSON_TYPE };
    },
  };
}

/** `POST /v1/bundles/verify`: the five checks on a bundle that anyone brings, pinned to this federation. */
export function verifyBundleRoute(verifier: Pick<Verifier, 'verifyBundle'>): FreeRoute {
  return {
    method: 'POST',
    path: '/v1/bundles/verify',
    access: 'free',
    async answer({ context }) {
      const limits = { maxBytes: MAX_BUNDLE_BYTES, maxDepth: MAX_BUNDLE_DEPTH };
      const { value } = await readJsonBody(context.req, limits);
      return { body: verdictBody(judge(verifier, value)) };
    },
  };
}

function judge(verifier: Pick<Verifier, 'verifyBundle'>, value: JsonValue): Verdict {
  try {
    return verifier.verifyBundle(value);
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    const place = error.pointer || 'its root';
    throw new Problem('bundle-malformed', `The bundle is malformed at ${place}: ${error.message}.`);
  }
}

async function disclose(sources: BundleSources, evidence: Evidence): Promise<Exclude<PayloadAnswer, string>> {
  const payload = await sources.payload(evidence);
  if (typeof payload !== 'string') return payload;
  if (payload === 'unreachable') {
    throw new Problem('dependency-unavailable', 'The node that holds the payload is not reached.');
  }
  throw new Problem('scope-forbidden', `The payload is ${payload} and cannot be disclosed.`);
}

function verdictBody({ verified, witnessed, checks, payloadState, status, problems, record }: Verdict): JsonObject {
  return {
    verified,
    witnessed,
    checks: { ...checks },
    payloadState,
    status,
    problems: problems.map(({ check, code, detail }) => ({ check, code, detail })),
    record: record === null ? null : { ...record },
  };
}
