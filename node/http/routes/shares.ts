import { hash } from 'node:crypto';
import type { Context } from 'koa';
import Type from 'typebox';
import { BUNDLE_EXAMPLE, BundleAnswerShape } from '../../../protocol/api/bundles.ts';
import { CERTIFICATE_EXAMPLE, CERTIFICATE_TYPE } from '../../../protocol/api/certificate.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  DEFAULT_SHARE_DAYS,
  isShareId,
  MadeShareAnswerShape,
  MAX_SHARE_DAYS,
  RevokedShareAnswerShape,
  SharedQueryShape,
  type ShareId,
  ShareIdShape,
  ShareRequestShape,
  SHARE_TOKEN_PATTERN,
  SHARES_EXAMPLE,
  SharesAnswerShape,
} from '../../../protocol/api/shares.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import { shareAnswer, type Share } from '../../accounts/sharing/share-table.ts';
import type { ListedShare, OpenedShare, ShareOnce, Shares } from '../../accounts/sharing/shares.ts';
import type { CertificateThread } from '../../certificates/certificate-thread.ts';
import type { Verifier } from '../../verification/verifier.ts';
import { readOptionalBody } from '../body.ts';
import { problemOf } from '../domain-problems.ts';
import { requireScope } from '../gate.ts';
import { fieldError, fieldProblem, Problem, toProblem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { idempotencyKey } from '../recording/recording.ts';
import type { Answer, Call, FreeRoute, KeyRoute, Route } from '../route.ts';
import { SECRET_PATH_HEADERS } from '../secret-paths.ts';
import { validator } from '../validation.ts';
import { type BundleSources, disclose, givenBundle, requireOwn, requireProofWindow } from './bundles.ts';
import { certificate, findRecord } from './certificates.ts';
import { RECORD_PARAMETER, recordNotFound, recordParameter, requireFound } from './record-parameter.ts';

export interface ShareServices extends BundleSources {
  readonly verifier: Pick<Verifier, 'verifyRecord'>;
  readonly certificates: Pick<CertificateThread, 'make'>;
  readonly shares: Pick<Shares, 'create' | 'enter' | 'list' | 'noteUse' | 'revoke'>;
  readonly auditLog: Pick<AuditLog, 'note'>;
  readonly clientOf: (context: Context) => string;
  readonly baseUrl: () => string;
  /** Throws where the node has no storage left. */
  readonly requireStorage: () => void;
}

const BODY = { maxBytes: 8 << 10 };
const MAKE_PATH = '/v1/bundles/:id/share';
/** What holds a secret, or was reached by one, is kept by nobody and listed nowhere. */
const SECRET_HEADERS = { 'Cache-Control': 'no-store', ...SECRET_PATH_HEADERS };
const SHARE_PARAMETER = { id: { description: 'Id of the link.', shape: ShareIdShape, example: EXAMPLE_IDS.share } };
const TOKEN_PARAMETER = {
  token: {
    description: 'From the link.',
    shape: Type.String({ pattern: SHARE_TOKEN_PATTERN }),
    example: EXAMPLE_IDS.shareToken,
  },
};
const SHARED_PROBLEMS = ['link-invalid', 'proof-window-expired', 'payload-elsewhere', 'payload-erased'] as const;

const validateShare = validator(ShareRequestShape);
const readSharedQuery = queryReader(SharedQueryShape);

/**
 * Links that give the bundle of one record to somebody without an account (api-rules §2.8). Who makes or ends one decides
 * what outsiders see: that is governance, and takes its scope.
 */
export function shareRoutes(services: ShareServices): readonly Route[] {
  return [
    makeRoute(services),
    listRoute(services),
    revokeRoute(services),
    sharedRoute(services),
    sharedCertificateRoute(services),
  ];
}

function makeRoute(services: ShareServices): KeyRoute {
  const { shares, evidence, baseUrl, now, requireStorage } = services;
  return {
    method: 'POST',
    path: MAKE_PATH,
    access: 'key',
    scope: 'governance:write',
    idempotent: true,
    documentation: {
      summary: 'A link that gives the bundle of a record to whoever has it',
      description:
        `It ends by itself, after ${DEFAULT_SHARE_DAYS} days where nothing else is said and ${MAX_SHARE_DAYS} at most, and ` +
        'with the API key that made it: when that is revoked, has expired, or was replaced and its overlap is over. It ' +
        'gives what that key may have, which needs the scope `proof:read` too. Each use is a line of the log of key uses. ' +
        'The secret in it is shown in this answer and never again. With `disclosure` it gives the content too, at the ' +
        'node that made the record alone, and with `linked` the linked records.',
      params: RECORD_PARAMETER,
      request: { optional: true, shape: ShareRequestShape, example: SHARES_EXAMPLE.make.request },
      answer: { shape: MadeShareAnswerShape, example: SHARES_EXAMPLE.make.answer },
      headers: ['X-Proof-Window-Ends-At'],
      problems: [
        'invalid-field',
        'attestation-not-found',
        'proof-window-expired',
        'payload-elsewhere',
        'payload-erased',
        'too-many-shares',
        'idempotency-conflict',
        'storage-full',
      ],
    },
    async answer({ context, params }, caller) {
      requireScope('proof:read', caller);
      const id = recordParameter(params);
      const body = await readOptionalBody(context.req, BODY);
      const request = validateShare(body);
      const once = onceOf(context, id, body);
      const found = requireFound(params, await evidence(id));
      requireOwn(found.record, caller);
      const windowHeaders = requireProofWindow(found.record, caller, now());
      if (request.disclosure === true) await disclose(services, found);
      requireStorage();
      const { share, token, status } = await shares.create(caller, request, found.record, once);
      const answer = {
        success: true,
        share: answerOf({ share, status }),
        url: `${baseUrl()}/v/${id}#share=${token}`,
        apiUrl: `${baseUrl()}/v1/shared/${token}`,
      };
      return { body: answer, headers: { ...windowHeaders, ...SECRET_HEADERS } };
    },
  };
}

/** The same key with the same request is answered as the first time. Throws `Problem` 400. */
function onceOf(context: Context, id: RecordId, body: JsonObject): ShareOnce | undefined {
  const text = idempotencyKey(context);
  if (text === undefined) return undefined;
  const request = hash('sha256', [text, MAKE_PATH, id, canonicalize(body)].join('\n'), 'hex');
  return { text, key: hash('sha256', text, 'hex'), request };
}

function listRoute({ shares }: ShareServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/shares',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The links of the account',
      description:
        'Those made at this node, oldest first, to records that the key may see; those that ended are kept for 30 days. ' +
        'No secret is among it. `key-ended`: the key that made it has ended, and the link with it.',
      answer: { shape: SharesAnswerShape, example: SHARES_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      return { body: { success: true, shares: (await shares.list(caller)).map(answerOf) } };
    },
  };
}

function revokeRoute({ shares }: ShareServices): KeyRoute {
  return {
    method: 'POST',
    path: '/v1/shares/:id/revoke',
    access: 'key',
    scope: 'governance:write',
    documentation: {
      summary: 'Ends a link at once',
      description: 'At the node that made it. One that was revoked already is answered as it is.',
      params: SHARE_PARAMETER,
      answer: { shape: RevokedShareAnswerShape, example: SHARES_EXAMPLE.revoke },
      problems: ['invalid-field', 'share-not-found'],
    },
    async answer({ params }, caller) {
      return { body: { success: true, share: answerOf(await shares.revoke(caller, shareParameter(params))) } };
    },
  };
}

/** Throws `Problem` 400. */
function shareParameter({ id = '' }: Readonly<Record<string, string>>): ShareId {
  if (isShareId(id)) return id;
  throw fieldProblem('id', 'pattern', 'is not the id of a link');
}

const SHARED_QUERY = {
  disclosure: {
    description:
      '`0`: without the content. `1`: with it, or 409 where it was erased. Default: with it where the link and the node can.',
    shape: SharedQueryShape.properties.disclosure,
    example: '1',
  },
  linked: {
    description: '`0`: without the linked records. Default: with them where the link allows it.',
    shape: SharedQueryShape.properties.linked,
    example: '1',
  },
};

function sharedRoute(services: ShareServices): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/shared/:token',
    access: 'free',
    crossOrigin: false,
    documentation: {
      summary: 'The bundle that a link gives',
      description:
        'As it stands: before the ledger decided the batch of the record, without a decision. One answer for links that ' +
        'ended, were revoked and never were. A link is opened sixty times a minute at most.',
      params: TOKEN_PARAMETER,
      query: SHARED_QUERY,
      answer: { shape: BundleAnswerShape, example: BUNDLE_EXAMPLE },
      headers: ['X-Linked-Truncated', 'X-Proof-Window-Ends-At'],
      problems: ['invalid-field', 'scope-forbidden', ...SHARED_PROBLEMS],
    },
    answer: (call) => used(services, call, (opened) => sharedBundle(services, opened, call.query)),
  };
}

function sharedCertificateRoute(services: ShareServices): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/shared/:token/certificate',
    access: 'free',
    crossOrigin: false,
    documentation: {
      summary: 'The certificate of the record that a link gives',
      description: 'As `GET /v1/certificates/{id}` answers it, with the bundle of the link attached.',
      params: TOKEN_PARAMETER,
      answer: { contentType: CERTIFICATE_TYPE, example: CERTIFICATE_EXAMPLE },
      headers: ['Content-Disposition'],
      problems: [...SHARED_PROBLEMS, 'dependency-unavailable'],
    },
    answer: (call) =>
      used(services, call, async (opened) => {
        const { body: proof } = await sharedBundle(services, opened, new URLSearchParams());
        const found = await findRecord(services, opened.share.record);
        return certificate(services, found, { proof, showsBody: true }, SECRET_HEADERS);
      }),
  };
}

/** What a link gives, as the key that made it may have it now. Throws `Problem` 403, 404 and 409. */
async function sharedBundle(services: ShareServices, { share, caller }: OpenedShare, query: URLSearchParams) {
  const asked = readSharedQuery(query);
  for (const name of ['disclosure', 'linked'] as const) if (asked[name] === '1') requireAllowed(share, name);
  const found = await services.evidence(share.record);
  if (found === undefined) throw recordNotFound(share.record);
  requireOwn(found.record, caller);
  const windowHeaders = requireProofWindow(found.record, caller, services.now());
  const wantsPayload = share.disclosure && asked.disclosure !== '0';
  // Who did not ask for the payload of all things has the proof without it once it is erased.
  const disclosure = wantsPayload && (asked.disclosure === '1' || (await services.payload(found)) !== 'erased');
  const what = { disclosure, linked: share.linked && asked.linked !== '0' };
  const { body, headers } = await givenBundle(services, caller, found, what);
  return { body, headers: { ...windowHeaders, ...headers, ...SECRET_HEADERS } };
}

function requireAllowed(share: Share, name: 'disclosure' | 'linked'): void {
  if (share[name]) return;
  throw new Problem('scope-forbidden', `The link does not allow ${name}.`, {
    errors: [fieldError([name], 'scope', 'is not what the link gives')],
  });
}

/** Each use of a link that works is counted, and is in the log of its account, whatever came of it. */
async function used(
  { shares, auditLog, clientOf }: ShareServices,
  { context, params: { token = '' } }: Call,
  answer: (opened: OpenedShare) => Promise<Answer>,
): Promise<Answer> {
  const opened = await shares.enter(token);
  let status = 500;
  try {
    const answered = await answer(opened);
    status = answered.status ?? 200;
    return answered;
  } catch (thrown) {
    const problem = toProblem(problemOf(thrown));
    status = problem.status;
    throw problem;
  } finally {
    const { id: by, account, record: subject } = opened.share;
    const requestId = String(context.response.get('x-request-id'));
    auditLog.note(account, {
      action: 'GET /v1/shared/:token',
      address: clientOf(context),
      by,
      requestId,
      status,
      subject,
    });
    shares.noteUse(opened);
  }
}

function answerOf({ share, status }: ListedShare): JsonObject {
  return { ...shareAnswer(share, status) };
}
