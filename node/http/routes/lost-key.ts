import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import Type from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  LINK_TOKEN_PATTERN,
  LOST_KEY_EXAMPLE,
  LOST_KEY_LINK_MESSAGE,
  LOST_KEY_MESSAGE,
  LostKeyAnswerShape,
  LostKeyLinkShape,
  LostKeyRequestShape,
  ReplaceLostKeyAnswerShape,
  ReplaceLostKeyRequestShape,
} from '../../../protocol/api/lost-key.ts';
import { type ApiKey, keyAnswer } from '../../accounts/api-key.ts';
import type { LostKeys } from '../../accounts/lost-key/lost-keys.ts';
import { NOTHING_SHOWN } from '../../accounts/second-factors/proof.ts';
import { readJsonBody } from '../body.ts';
import type { FreeRoute } from '../route.ts';
import { validator } from '../validation.ts';

export interface LostKeyServices {
  readonly lostKeys: Pick<LostKeys, 'request' | 'open' | 'replace'>;
  /** The internet address that a request came from. */
  readonly addressOf: (context: Context) => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** So short a body comes at once, or somebody holds a place with it. */
const BODY = { maxBytes: 8 << 10, deadlineMs: 5_000 };

const PARAMS = {
  token: {
    description: 'From the mail.',
    shape: Type.String({ pattern: LINK_TOKEN_PATTERN }),
    example: EXAMPLE_IDS.link,
  },
};

const validateAsk = validator(LostKeyRequestShape);
const validateReplace = validator(ReplaceLostKeyRequestShape);

/** `/v1/lost-key`: whoever can read the mail of an account's address replaces its lost keys. */
export function lostKeyRoutes(services: LostKeyServices): readonly FreeRoute[] {
  return [askRoute(services), linkRoute(services), replaceRoute(services)];
}

function askRoute({ lostKeys, addressOf }: LostKeyServices): FreeRoute {
  return {
    method: 'POST',
    path: '/v1/lost-key',
    access: 'free',
    documentation: {
      summary: 'Sends a link that replaces lost keys by mail',
      description:
        'To the address that an account of this node was made with, as it was given then. The link works once and for ' +
        '15 minutes; a newer one ends it. No mail is sent to other addresses. The answer is the same for all, and is ' +
        'sent before anything is looked up.',
      request: { shape: LostKeyRequestShape, example: LOST_KEY_EXAMPLE.ask.request },
      answer: { shape: LostKeyAnswerShape, example: LOST_KEY_EXAMPLE.ask.answer },
      problems: ['missing-field', 'invalid-field', 'rate-limited', 'dependency-unavailable'],
    },
    async answer({ context }) {
      const { value } = await readJsonBody(context.req, BODY);
      const { email } = validateAsk(value);
      lostKeys.request(email, addressOf(context), ended(context.res));
      return { body: { success: true, sent: true, message: LOST_KEY_MESSAGE } };
    },
  };
}

function linkRoute({ lostKeys, now }: LostKeyServices): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/lost-key/:token',
    access: 'free',
    crossOrigin: false,
    documentation: {
      summary: 'The keys that a link can replace',
      description: 'Changes nothing, and does not use the link up: programs that look through mails open links too.',
      params: PARAMS,
      answer: { shape: LostKeyLinkShape, example: LOST_KEY_EXAMPLE.link },
      problems: ['link-invalid'],
    },
    async answer({ params }) {
      const { account, expiresAt, keys, factors } = await lostKeys.open(params.token ?? '');
      const at = now();
      const shown = keys.map((key) => linkKey(key, at));
      return {
        body: {
          success: true,
          account,
          expiresAt,
          secondFactor: factors !== undefined,
          message: LOST_KEY_LINK_MESSAGE,
          keys: shown,
        },
      };
    },
  };
}

function replaceRoute({ lostKeys, now }: LostKeyServices): FreeRoute {
  return {
    method: 'POST',
    path: '/v1/lost-key/:token',
    access: 'free',
    documentation: {
      summary: 'Makes a key in the place of lost ones',
      description:
        'The key may do everything; its text is shown in this answer and never again. The keys of `revoke` end in the ' +
        'same step, and the link with it. Where one of them is not of the account, or has ended already, nothing ' +
        'changes and the link still works. An owner with a second factor shows a `code` too, and has five tries by one ' +
        'link, and twenty wrong ones a day by all.',
      params: PARAMS,
      request: { shape: ReplaceLostKeyRequestShape, example: LOST_KEY_EXAMPLE.replace.request },
      answer: { shape: ReplaceLostKeyAnswerShape, example: LOST_KEY_EXAMPLE.replace.answer },
      problems: [
        'missing-field',
        'invalid-field',
        'link-invalid',
        'second-factor-needed',
        'second-factor-wrong',
        'rate-limited',
        'key-not-found',
        'key-ended',
        'too-many-keys',
      ],
    },
    async answer({ context, params }) {
      const { revoke, code = '' } = validateReplace((await readJsonBody(context.req, BODY)).value);
      const { apiKey, key, revoked } = await lostKeys.replace(params.token ?? '', revoke, { ...NOTHING_SHOWN, code });
      const at = now();
      return {
        body: { success: true, apiKey, key: keyAnswer(key, at), revoked: revoked.map((one) => keyAnswer(one, at)) },
      };
    },
  };
}

function linkKey(key: ApiKey, at: number) {
  const { id, name, scopes, createdAt, lastUsedDay, status } = keyAnswer(key, at);
  return { id, name, scopes, createdAt, lastUsedDay, status };
}

/** Settles once an answer has been sent, or nobody is there to take it. */
export function ended(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (response.closed) resolve();
  else response.once('close', resolve);
  return promise;
}
