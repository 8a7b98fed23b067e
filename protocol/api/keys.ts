import Type, { type Static } from 'typebox';
import { Closed, documented, OneOf, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { ADDRESS_RANGE_PATTERN } from './network-addresses.ts';
import { PRESET_NAMES, SCOPES } from './scopes.ts';
import { MomentShape } from './times.ts';

const MAX_KEY_NAME = 100;
/** Sources, or addresses, that one key may be limited to. */
const MAX_KEY_LIMITS = 100;
/** Longest text of an address range: an IPv6 address with an IPv4 ending, and `/128`. */
const MAX_ADDRESS_RANGE = 49;

/** How long a replaced key goes on where nothing is said, and at most. In seconds. */
export const DEFAULT_OVERLAP_SECONDS = 86_400;
const MAX_OVERLAP_SECONDS = 30 * 86_400;

function OrNull<Shape extends Type.TSchema>(shape: Shape) {
  return Type.Union([shape, Type.Null()]);
}

const ScopesShape = Type.Array(Type.Enum([...SCOPES]), { minItems: 1, maxItems: SCOPES.length });
const AddressRangeShape = TextShape(2, MAX_ADDRESS_RANGE, documented({ pattern: ADDRESS_RANGE_PATTERN }));

/** What a new key may do: a preset or scopes, and limits. What is left out is as the key that asks has it. */
export const KEY_TERMS_MEMBERS = {
  name: Type.Optional(TextShape(1, MAX_KEY_NAME)),
  preset: Type.Optional(Type.Enum([...PRESET_NAMES])),
  scopes: Type.Optional(ScopesShape),
  sources: Type.Optional(OrNull(Type.Array(SourceIdShape, { minItems: 1, maxItems: MAX_KEY_LIMITS }))),
  /** IP addresses and CIDR ranges. */
  addresses: Type.Optional(OrNull(Type.Array(AddressRangeShape, { minItems: 1, maxItems: MAX_KEY_LIMITS }))),
  expiresAt: Type.Optional(OrNull(MomentShape)),
  /** First and last moment of the records that it may see: for an auditor of a period. */
  from: Type.Optional(OrNull(MomentShape)),
  to: Type.Optional(OrNull(MomentShape)),
};

/** `POST /v1/keys`. */
export const CreateKeyRequestShape = Closed(KEY_TERMS_MEMBERS);

const { preset: _preset, scopes: _scopes, ...LIMITS_MEMBERS } = KEY_TERMS_MEMBERS;

/** The same for the document: it takes one of the two, and no more. */
export const CreateKeyDocumentShape = OneOf(
  Closed({ ...LIMITS_MEMBERS, preset: Type.Enum([...PRESET_NAMES]) }, { title: 'KeyByPreset' }),
  Closed({ ...LIMITS_MEMBERS, scopes: ScopesShape }, { title: 'KeyByScopes' }),
);

/** `POST /v1/keys/:id/rotate`; no body is an empty one. */
export const RotateKeyRequestShape = Closed({
  overlapSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OVERLAP_SECONDS })),
});

/** A key as its owner sees it. Its text is not among what is known of it. */
export const KeyShape = Closed(
  {
    id: Type.String(),
    name: OrNull(Type.String()),
    status: Type.Enum(['active', 'expired', 'revoked']),
    preset: OrNull(Type.Enum([...PRESET_NAMES])),
    scopes: Type.Array(Type.Enum([...SCOPES])),
    sources: OrNull(Type.Array(Type.String())),
    addresses: OrNull(Type.Array(Type.String())),
    createdAt: TimestampShape,
    expiresAt: OrNull(TimestampShape),
    from: OrNull(TimestampShape),
    to: OrNull(TimestampShape),
    revokedAt: OrNull(TimestampShape),
    replacedBy: OrNull(Type.String()),
    /** UTC day. */
    lastUsedDay: OrNull(Type.String()),
  },
  { title: 'ApiKey' },
);
export type KeyAnswer = Static<typeof KeyShape>;

const success = Type.Literal(true);

/** Oldest first. */
export const ListKeysAnswerShape = Closed({ success, keys: Type.Array(KeyShape) });
/** `apiKey` is shown here and never again. */
export const CreateKeyAnswerShape = Closed({ success, apiKey: Type.String(), key: KeyShape });
export const RotateKeyAnswerShape = Closed({ success, apiKey: Type.String(), key: KeyShape, replaced: KeyShape });
export const RevokeKeyAnswerShape = Closed({ success, key: KeyShape });

const KEY_EXAMPLE = {
  id: EXAMPLE_IDS.key,
  name: 'night loader',
  status: 'active',
  preset: 'ingest',
  scopes: ['attest:write', 'proof:read'],
  sources: [EXAMPLE_IDS.source],
  addresses: ['203.0.113.0/24'],
  createdAt: EXAMPLE_SUBMITTED_AT,
  expiresAt: null,
  from: null,
  to: null,
  revokedAt: null,
  replacedBy: null,
  lastUsedDay: null,
} as const;
const SUCCESSOR = 'key_eu_01KAJ7D3V6M9P2C5F8HRXT4QEB';
/** Of the form of a key, and with a checksum that does not fit, so that no scanner takes it for a secret. */
const API_KEY = `mk_eu_${'example'.repeat(7)}`;

export const KEYS_EXAMPLE = {
  list: { success: true, keys: [{ ...KEY_EXAMPLE, lastUsedDay: '2026-11-21' }] },
  create: {
    request: {
      name: KEY_EXAMPLE.name,
      preset: KEY_EXAMPLE.preset,
      sources: [EXAMPLE_IDS.source],
      addresses: ['203.0.113.0/24'],
    },
    answer: { success: true, apiKey: API_KEY, key: KEY_EXAMPLE },
  },
  rotate: {
    request: { overlapSeconds: 3600 },
    answer: {
      success: true,
      apiKey: API_KEY,
      key: { ...KEY_EXAMPLE, id: SUCCESSOR },
      replaced: { ...KEY_EXAMPLE, expiresAt: '2026-11-21T10:30:00.000Z', replacedBy: SUCCESSOR },
    },
  },
  revoke: {
    answer: { success: true, key: { ...KEY_EXAMPLE, status: 'revoked', revokedAt: EXAMPLE_SUBMITTED_AT } },
  },
} as const;
