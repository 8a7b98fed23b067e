import type { Context } from 'koa';
import Type from 'typebox';
import { BUNDLE_EXAMPLE, BundleAnswerShape } from '../../../protocol/api/bundles.ts';
import { CERTIFICATE_EXAMPLE, CERTIFICATE_TYPE } from '../../../protocol/api/certificate.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  MadeShareAnswerShape,
  RevokedShareAnswerShape,
  type ShareAnswer,
  ShareIdShape,
  ShareRequestShape,
  SHARE_TOKEN_PATTERN,
  SHARES_EXAMPLE,
  SharesAnswerShape,
} from '../../../protocol/api/shares.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import { mayName } from '../../accounts/caller.ts';
import { type Share, shareStatus } from '../../accounts/sharing/share-tables.ts';
import type { Shares } from '../../accounts/sharing/shares.ts';
import type { CertificateThread } from '../../certificates/certificate-thread.ts';
import { completeBundle } from '../../verification/bundles.ts';
import type { Verifier } from '../../verification/verifier.ts';
import { readOptionalBody } from '../body.ts';
import { requireHome } from '../home-only.ts';
import { Problem } from '../problem.ts';
import type { Answer, Call, FreeRoute, KeyRoute, Route } from '../route.ts';
import { validator } from '../validation.ts';
import { type BundleSources, disclose, requireOwn, requireProofWindow } from './bundles.ts';
import { certificate, findRecord } from './certificates.ts';
import { RECORD_PARAMETER, recordNotFound, recordParameter } from './record-parameter.ts';

export interface ShareServices extends BundleSources {
  readonly verifier: Pick<Verifier, 'verifyRecord'>;
  readonly certificates: Pick<CertificateThread, 'make'>;
  readonly shares: Pick<Shares, 'list' | 'make' | 'open' | 'revoke'>;
  readonly accounts: { readonly accountStore: Pick<AccountStore, 'requireAccount'> };
  readonly auditLog: Pick<AuditLog, 'note'>;
  readonly clientOf: (context: Context) => string;
  readonly baseUrl: () => string;
}

const MAX_BYTES = 8 << 10;
/** What holds a secret, or was reached by one, is kept by nobody and listed nowhere. */
const SECRET_HEADERS = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' };
const SHARE_PARAMETER = { id: { description: 'Id of the link.', shape: ShareIdShape, example: EXAMPLE_IDS.share } };
const TOKEN_PARAMETER = {
  token: {
    description: 'From the link.',
    shape: Type.String({ pattern: SHARE_TOKEN_PATTERN }),
    example: EXAMPLE_IDS.shareToken,
  },
};
const validateShare = validator(ShareRequestShape);

/** Links that give the bundle of one record to somebody without an account (api-rules §2.8). */
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
  const { shares, evidence, addressOf, baseUrl, now, self } = services;
  return {
    method: 'POST',
    path: '/v1/bundles/:id/share',
    access: 'key',
    scope: 'governance:write',
    documentation: {
      summary: 'A link that gives the bundle of a record to whoever has it',
      description:
        'It ends by itself, after 7 days where nothing else is said and 90 at most, and with the API key that made it. ' +
        'Each use is a line of the log of key uses. The secret in it is shown in this answer and never again. With ' +
        '`disclosure` it gives the content too, at the node that made the record alone. At the home of the account.',
      params: RECORD_PARAMETER,
      request: { optional: true, shape: ShareRequestShape, example: SHARES_EXAMPLE.make.request },
      answer: { shape: MadeShareAnswerShape, example: SHARES_EXAMPLE.make.answer },
      headers: ['Referrer-Policy', 'X-Robots-Tag'],
      problems: [
        'invalid-field',
        'attestation-not-found',
        'proof-window-expired',
        'payload-elsewhere',
        'too-many-shares',
        'home-only',
      ],
    },
    async answer({ context, params }, caller) {
      requireHome(caller, addressOf);
      const { expiresAt, disclosure, label } = validateShare(
        await readOptionalBody(context.req, { maxBytes: MAX_BYTES }),
      );
      const id = recordParameter(params);
      const found = await evidence(id);
      if (found === undefined) throw recordNotFound(id);
      requireOwn(found.record, caller);
      requireProofWindow(found.record, caller, now());
      if (disclosure === true && found.record.node !== self) await disclose(services, found);
      const request = { record: found.record, expiresAt, disclosure, label };
      const { share, token } = await shares.make(caller.account.id, caller.key.id, request);
      const body = {
        success: true,
        share: answerOf(share, now()),
        url: `${baseUrl()}/v/${id}#share=${token}`,
        apiUrl: `${baseUrl()}/v1/shared/${token}`,
      };
      return { body, headers: SECRET_HEADERS };
    },
  };
}

function listRoute({ shares, now }: ShareServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/shares',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The links of the account',
      description:
        'Oldest first, of records that the key may see; those that ended are kept for 30 days. No secret is among it.',
      answer: { shape: SharesAnswerShape, example: SHARES_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      const seen = (await shares.list(caller.account.id)).filter((share) => mayName(caller, share));
      const at = now();
      return { body: { success: true, shares: seen.map((share) => answerOf(share, at)) } };
    },
  };
}

function revokeRoute({ shares, now }: ShareServices): KeyRoute {
  return {
    method: 'POST',
    path: '/v1/shares/:id/revoke',
    access: 'key',
    scope: 'governance:write',
    documentation: {
      summary: 'Ends a link at once',
      description: 'One that has ended already is answered as it is.',
      params: SHARE_PARAMETER,
      answer: { shape: RevokedShareAnswerShape, example: SHARES_EXAMPLE.revoke },
      problems: ['share-not-found'],
    },
    async answer({ params: { id = '' } }, caller) {
      const share = await shares.revoke(caller.account.id, id, (one) => mayName(caller, one));
      return { body: { success: true, share: answerOf(share, now()) } };
    },
  };
}

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
        'ended, were revoked and never were.',
      params: TOKEN_PARAMETER,
      answer: { shape: BundleAnswerShape, example: BUNDLE_EXAMPLE },
      headers: ['Referrer-Policy', 'X-Robots-Tag'],
      problems: ['link-invalid', 'proof-window-expired', 'payload-elsewhere', 'payload-erased'],
    },
    answer: (call) =>
      used(services, call, async (share) => {
        const headers = { ...SECRET_HEADERS, 'Content-Type': JSON_TYPE };
        return { body: await sharedBundle(services, share), headers };
      }),
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
      headers: ['Content-Disposition', 'Referrer-Policy', 'X-Robots-Tag'],
      problems: [
        'link-invalid',
        'proof-window-expired',
        'payload-elsewhere',
        'payload-erased',
        'dependency-unavailable',
      ],
    },
    answer: (call) =>
      used(services, call, async (share) => {
        const proof = await sharedBundle(services, share);
        const found = await findRecord(services, share.record);
        return certificate(services, found, { proof, showsBody: true }, SECRET_HEADERS);
      }),
  };
}

/** What a link gives, as text. Throws `Problem` 403, 404 and 409. */
async function sharedBundle(services: ShareServices, share: Share): Promise<string> {
  const { accounts, evidence, now } = services;
  const found = await evidence(share.record);
  if (found === undefined) throw recordNotFound(share.record);
  const account = await accounts.accountStore.requireAccount(share.account);
  requireProofWindow(found.record, { account, key: { id: share.madeBy, scopes: [], sources: null } }, now());
  const disclosed = share.disclosure ? await disclose(services, found) : undefined;
  return JSON.stringify(await completeBundle(services, found, disclosed === undefined ? {} : { disclosed }));
}

/** Each use of a link that works is in the log of its account, whatever came of it. */
async function used(
  { shares, auditLog, clientOf }: ShareServices,
  { context, params: { token = '' } }: Call,
  answer: (share: Share) => Promise<Answer>,
): Promise<Answer> {
  const share = await shares.open(token);
  let status = 500;
  try {
    const answered = await answer(share);
    status = answered.status ?? 200;
    return answered;
  } catch (error) {
    if (error instanceof Problem) ({ status } = error);
    throw error;
  } finally {
    auditLog.note(share.account, {
      action: 'GET /v1/shared/:token',
      address: clientOf(context),
      by: share.id,
      requestId: String(context.response.get('x-request-id')),
      status,
      subject: share.record,
    });
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

function answerOf(share: Share, now: number): ShareAnswer {
  const { id, record, disclosure, label, madeBy, createdAt, expiresAt, revokedAt } = share;
  const status = shareStatus(share, now);
  return { shareId: id, attestationId: record, status, disclosure, label, madeBy, createdAt, expiresAt, revokedAt };
}
