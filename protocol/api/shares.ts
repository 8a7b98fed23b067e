import Type, { type Static } from 'typebox';
import { idPattern } from '../ids.ts';
import { Closed, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { TextShape } from './fields.ts';
import { MomentShape } from './times.ts';

/** How long a link works where nothing is said, and at most. In days. */
export const DEFAULT_SHARE_DAYS = 7;
export const MAX_SHARE_DAYS = 90;
const MAX_LABEL = 200;
/** `shr_eu_01J…`: names a link and says nothing about its secret. */
export type ShareId = string & { readonly __brand: 'ShareId' };
const SHARE_ID_PATTERN = idPattern('shr');
/** Of a link: 256 bits, base64url. */
export const SHARE_TOKEN_PATTERN = '^[A-Za-z0-9_-]{43}$';
export const ShareIdShape = Type.Unsafe<ShareId>(Type.String({ pattern: SHARE_ID_PATTERN }));

const SHARE_ID = new RegExp(SHARE_ID_PATTERN);

export function isShareId(text: string): text is ShareId {
  return SHARE_ID.test(text);
}

/** `POST /v1/bundles/:id/share`; no body is an empty one. */
export const ShareRequestShape = Closed({
  /** This or `expiresAt`, not both. */
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SHARE_DAYS })),
  /** RFC 3339: at most 90 days ahead. Default: in 7 days. */
  expiresAt: Type.Optional(MomentShape),
  /** Whether the link gives the content too: at the node that made the record alone. Default: not. */
  disclosure: Type.Optional(Type.Boolean()),
  /** Whether the link gives the linked records too. Default: not. */
  linked: Type.Optional(Type.Boolean()),
  /** For its owner: whom it is for. */
  label: Type.Optional(TextShape(1, MAX_LABEL)),
});
export type ShareRequest = Readonly<Static<typeof ShareRequestShape>>;

/** What a link is worth: a key that has ended ends its links. */
export const SHARE_STATUSES = ['active', 'expired', 'revoked', 'key-ended'] as const;
export type ShareStatus = (typeof SHARE_STATUSES)[number];

/** `GET /v1/shared/:token`: what the link allows is given, unless it is `0`. */
export const SharedQueryShape = Closed({
  disclosure: Type.Optional(Type.Enum(['0', '1'])),
  linked: Type.Optional(Type.Enum(['0', '1'])),
});

/** A link as its owner sees it. Its secret is not among what is known of it. */
export const ShareShape = Closed(
  {
    shareId: ShareIdShape,
    attestationId: RecordIdShape,
    status: Type.Enum([...SHARE_STATUSES]),
    disclosure: Type.Boolean(),
    linked: Type.Boolean(),
    label: OrNull(Type.String()),
    /** Id of the API key that made it: the link ends with it. */
    madeBy: Type.String(),
    createdAt: TimestampShape,
    expiresAt: TimestampShape,
    revokedAt: OrNull(TimestampShape),
    /** How often it was opened, and when last. */
    uses: Type.Integer({ minimum: 0 }),
    lastUsedAt: OrNull(TimestampShape),
  },
  { title: 'Share' },
);
export type ShareAnswer = Static<typeof ShareShape>;

const success = Type.Literal(true);
/** `url` and `apiUrl` hold the secret, and are shown here and never again. */
export const MadeShareAnswerShape = Closed({
  success,
  share: ShareShape,
  /** For people: the page of the record, with the secret behind `#`, which no server is told. */
  url: Type.String(),
  /** For programs: the bundle. */
  apiUrl: Type.String(),
});
export const SharesAnswerShape = Closed({ success, shares: Type.Array(ShareShape) });
export const RevokedShareAnswerShape = Closed({ success, share: ShareShape });

const SHARE_EXAMPLE = {
  shareId: EXAMPLE_IDS.share,
  attestationId: EXAMPLE_IDS.decision,
  status: 'active',
  disclosure: true,
  linked: true,
  label: 'Auditor of the annual accounts',
  madeBy: EXAMPLE_IDS.key,
  createdAt: EXAMPLE_SUBMITTED_AT,
  expiresAt: '2026-11-28T14:03:28.107Z',
  revokedAt: null,
  uses: 0,
  lastUsedAt: null,
} as const;
const ADDRESS = 'https://eu.example';
export const SHARES_EXAMPLE = {
  make: {
    request: { expiresInDays: 7, disclosure: true, linked: true, label: 'Auditor of the annual accounts' },
    answer: {
      success: true,
      share: SHARE_EXAMPLE,
      url: `${ADDRESS}/v/${EXAMPLE_IDS.decision}#share=${EXAMPLE_IDS.shareToken}`,
      apiUrl: EXAMPLE_IDS.shareAddress,
    },
  },
  list: { success: true, shares: [SHARE_EXAMPLE] },
  revoke: { success: true, share: { ...SHARE_EXAMPLE, status: 'revoked', revokedAt: '2026-11-22T08:00:00.000Z' } },
} as const;
