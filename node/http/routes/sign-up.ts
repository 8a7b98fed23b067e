import type { Context } from 'koa';
import {
  SIGN_UP_EXAMPLE,
  SIGN_UP_MESSAGE,
  SignUpAnswerShape,
  SignUpRequestShape,
} from '../../../protocol/api/sign-up.ts';
import type { SignUp } from '../../accounts/sign-up/sign-up.ts';
import { readJsonBody } from '../body.ts';
import type { FreeRoute } from '../route.ts';
import { validator } from '../validation.ts';

export interface SignUpServices {
  readonly signUp: Pick<SignUp, 'request'>;
  /** The internet address that a request came from. */
  readonly addressOf: (context: Context) => string;
}

const MAX_BYTES = 4 << 10;
/** So short a body comes at once, or somebody holds a place with it. In milliseconds. */
const DEADLINE_MS = 5_000;

const validate = validator(SignUpRequestShape);

/** `POST /v1/sign-up` (api-rules §5): a key for whoever can read the mail of an address. */
export function signUpRoute({ signUp, addressOf }: SignUpServices): FreeRoute {
  return {
    method: 'POST',
    path: '/v1/sign-up',
    access: 'free',
    documentation: {
      summary: 'Sends an API key by mail',
      description:
        'Makes an account of the Developer tier and mails its key. An address whose key was never used gets a fresh ' +
        'one in its place; one whose account is in use is told so by mail. The answer is the same for all. With ' +
        '`compressPayloads` the account’s payloads are compressed before they are encrypted, and padded: they take half ' +
        'the room, and their lengths tell little. Nothing else changes. `nodes` are the members that its keys work at, the node that is asked among them ' +
        '(`PUT /v1/account`). An account that is in use keeps what it has.',
      request: { shape: SignUpRequestShape, example: SIGN_UP_EXAMPLE.request },
      answer: { shape: SignUpAnswerShape, example: SIGN_UP_EXAMPLE.answer },
      problems: ['missing-field', 'invalid-field', 'sign-up-closed', 'rate-limited', 'dependency-unavailable'],
    },
    async answer({ context }) {
      const { value } = await readJsonBody(context.req, { maxBytes: MAX_BYTES, deadlineMs: DEADLINE_MS });
      await signUp.request(validate(value), addressOf(context));
      return {
        body: { success: true, sent: true, message: SIGN_UP_MESSAGE },
      };
    },
  };
}
