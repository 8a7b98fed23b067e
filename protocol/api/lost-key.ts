import Type from 'typebox';
import { Closed, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { KeyShape, KEYS_EXAMPLE } from './keys.ts';
import { TextShape } from './fields.ts';
import { MailAddressShape } from './network-addresses.ts';
import { MAX_CODE_CHARACTERS } from './second-factors.ts';
import { SCOPES } from './scopes.ts';
import { SIGN_UP_EXAMPLE, SignUpAnswerShape } from './sign-up.ts';

/** Most keys that one request ends: as many as an account has. */
const MAX_REVOKED = 100;
const MAX_KEY_ID = 64;

/** Of a link: 256 bits, base64url. */
export const LINK_TOKEN_PATTERN = '^[A-Za-z0-9_-]{43}$';

/** `POST /v1/lost-key`. */
export const LostKeyRequestShape = Closed({ email: MailAddressShape });

/** The same for an address that has an account and for one that has none, and of the form of a sign-up's. */
export const LostKeyAnswerShape = SignUpAnswerShape;
export const LOST_KEY_MESSAGE =
  'Where the address has an account here, a mail is on its way to it. It says how to go on.';

/** A key as the holder of a link sees it: enough to know it again. */
const { id, name, scopes, createdAt, lastUsedDay, status } = KeyShape.properties;
const LinkKeyShape = Closed({ id, name, scopes, createdAt, lastUsedDay, status });

const success = Type.Literal(true);

/** `GET /v1/lost-key/:token`. */
export const LostKeyLinkShape = Closed({
  success,
  account: Type.String(),
  /** When the link ends, unless it is used or replaced before. */
  expiresAt: TimestampShape,
  /** Whether `code` is to be sent too. */
  secondFactor: Type.Boolean(),
  message: Type.String(),
  /** Oldest first. */
  keys: Type.Array(LinkKeyShape),
});
export const LOST_KEY_LINK_MESSAGE =
  'POST {"revoke": [ids of keys to end]} to this address, and a new key that may do everything is shown once. The link then ends.';

/** `POST /v1/lost-key/:token`. */
export const ReplaceLostKeyRequestShape = Closed({
  revoke: Type.Array(TextShape(1, MAX_KEY_ID), {
    maxItems: MAX_REVOKED,
    uniqueItems: true,
    description: 'Ids of keys that end at the same moment. May be empty.',
  }),
  code: Type.Optional(
    TextShape(1, MAX_CODE_CHARACTERS, {
      description:
        'Of the authenticator app of the account’s owner, or a recovery code, where they have a second factor.',
    }),
  ),
});
/** `apiKey` is shown here and never again. */
export const ReplaceLostKeyAnswerShape = Closed({
  success,
  apiKey: Type.String(),
  key: KeyShape,
  revoked: Type.Array(KeyShape),
});

const { apiKey, key: LOST } = KEYS_EXAMPLE.create.answer;
const NEW_KEY = {
  ...LOST,
  id: KEYS_EXAMPLE.rotate.answer.key.id,
  name: 'lost-key',
  preset: 'admin',
  scopes: [...SCOPES],
  sources: null,
  addresses: null,
} as const;

export const LOST_KEY_EXAMPLE = {
  ask: { request: SIGN_UP_EXAMPLE.request, answer: { ...SIGN_UP_EXAMPLE.answer, message: LOST_KEY_MESSAGE } },
  link: {
    success: true,
    account: 'acc_eu_example',
    expiresAt: EXAMPLE_SUBMITTED_AT,
    secondFactor: false,
    message: LOST_KEY_LINK_MESSAGE,
    keys: [
      {
        id: EXAMPLE_IDS.key,
        name: LOST.name,
        scopes: LOST.scopes,
        createdAt: LOST.createdAt,
        lastUsedDay: '2026-11-20',
        status: LOST.status,
      },
    ],
  },
  replace: {
    request: { revoke: [EXAMPLE_IDS.key] },
    answer: {
      success: true,
      apiKey,
      key: NEW_KEY,
      revoked: [{ ...LOST, status: 'revoked', revokedAt: EXAMPLE_SUBMITTED_AT }],
    },
  },
} as const;
