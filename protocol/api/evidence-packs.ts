import Type, { type Static } from 'typebox';
import { idPattern } from '../ids.ts';
import { FrameworkShape } from '../frameworks/catalogue-shape.ts';
import { MAX_PACK_SOURCES } from '../pack/manifest.ts';
import {
  Closed,
  CountShape,
  needs,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  RecordIdShape,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { MomentShape, TimeOrDayShape } from './times.ts';

export const PACK_TYPE = 'application/zip';

/** `pack_eu_01J…`. */
export type PackId = string & { readonly __brand: 'PackId' };
const PACK_ID_PATTERN = idPattern('pack');
export const PackIdShape = Type.Unsafe<PackId>(Type.String({ pattern: PACK_ID_PATTERN }));
const PACK_ID = new RegExp(PACK_ID_PATTERN);

export function isPackId(text: string): text is PackId {
  return PACK_ID.test(text);
}

/** How long a pack's file is kept where the account says nothing, and at most. In days. */
export const DEFAULT_PACK_DAYS = 30;
const MAX_PACK_DAYS = 3_650;
/** Names of systems and of frameworks that one question may have. */
const MAX_FRAMEWORKS = 64;
const SystemRefShape = TextShape(1, 256);

/** `POST /v1/evidence-packs`: `sources` or `systems`, and not both. */
export const PackRequestShape = Closed(
  {
    sources: Type.Optional(Type.Array(SourceIdShape, { minItems: 1, maxItems: MAX_PACK_SOURCES, uniqueItems: true })),
    /** Systems of the register: all sources of each. */
    systems: Type.Optional(Type.Array(SystemRefShape, { minItems: 1, maxItems: MAX_PACK_SOURCES, uniqueItems: true })),
    /** Records from this time or day on, and before the other. */
    from: TimeOrDayShape,
    to: TimeOrDayShape,
    /** Nothing that was recorded later is in it. Default: now. */
    asOf: Type.Optional(MomentShape),
    /** Ids of frameworks for the table of gaps. Default: all. */
    frameworks: Type.Optional(
      Type.Array(FrameworkShape.properties.id, { maxItems: MAX_FRAMEWORKS, uniqueItems: true }),
    ),
    /** Kinds that tables and `records.csv` are narrowed to; all records are in the pack anyway. Default: all. */
    kinds: Type.Optional(Type.Array(Type.Enum([...RECORD_KINDS]), { uniqueItems: true })),
    /** Whether the contents of the records are in it. Default: not. */
    disclosure: Type.Optional(Type.Boolean()),
  },
  needs('oneOf', { sources: 'texts', systems: 'texts' }),
);
export type PackRequest = Readonly<Static<typeof PackRequestShape>>;

export const PACK_STATES = ['queued', 'building', 'ready', 'failed'] as const;
export type PackState = (typeof PACK_STATES)[number];

export const PackShape = Closed(
  {
    packId: PackIdShape,
    state: Type.Enum([...PACK_STATES]),
    /** Why it is not made, in words; null unless it failed. */
    failure: OrNull(Type.String()),
    asOf: TimestampShape,
    /** In records. `total` is null until it is counted. */
    progress: Closed({ done: CountShape, total: OrNull(CountShape) }),
    /** Of `manifest.json`, and the record of it; null until the pack is ready. */
    manifestHash: OrNull(Sha256Shape),
    attestationId: OrNull(RecordIdShape),
    /** The node that makes it. */
    node: NodeIdShape,
    sources: Type.Array(Type.String()),
    systems: OrNull(Type.Array(Type.String())),
    from: TimestampShape,
    to: TimestampShape,
    frameworks: OrNull(Type.Array(Type.String())),
    kinds: OrNull(Type.Array(Type.Enum([...RECORD_KINDS]))),
    disclosure: Type.Boolean(),
    /** Length of its file; null until it is ready. */
    bytes: OrNull(CountShape),
    createdAt: TimestampShape,
    /** When its file is deleted; null until it is ready. */
    expiresAt: OrNull(TimestampShape),
  },
  { title: 'EvidencePack' },
);
const success = Type.Literal(true);
export const PackAnswerShape = Closed({ success, ...PackShape.properties }, { title: 'EvidencePackAnswer' });
export type PackAnswer = Static<typeof PackShape>;
export const PacksAnswerShape = Closed({
  success,
  packs: Type.Array(PackShape),
  /** How long the files of the account's packs are kept. */
  lifetimeDays: OrdinalShape,
});
export const PackLifetimeShape = Closed({ days: Type.Integer({ minimum: 1, maximum: MAX_PACK_DAYS }) });
export const PackLifetimeAnswerShape = Closed({ success, lifetimeDays: OrdinalShape });
export const DeletedPackAnswerShape = Closed({ success, packId: PackIdShape, deleted: Type.Literal(true) });

const QUESTION = {
  sources: [EXAMPLE_IDS.source],
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-04-01T00:00:00.000Z',
  frameworks: ['EU_AI_ACT'],
  disclosure: false,
} as const;
const PACK = {
  packId: EXAMPLE_IDS.pack,
  state: 'ready',
  failure: null,
  asOf: EXAMPLE_SUBMITTED_AT,
  progress: { done: 1_204, total: 1_204 },
  manifestHash: EXAMPLE_HASH,
  attestationId: EXAMPLE_IDS.packRecord,
  node: 'eu',
  ...QUESTION,
  systems: null,
  kinds: null,
  bytes: 5_310_482,
  createdAt: EXAMPLE_SUBMITTED_AT,
  expiresAt: '2026-12-21T09:30:00.000Z',
} as const;
export const PACKS_EXAMPLE = {
  request: QUESTION,
  answer: { success: true, ...PACK },
  list: { success: true, packs: [PACK], lifetimeDays: DEFAULT_PACK_DAYS },
  lifetime: { request: { days: 90 }, answer: { success: true, lifetimeDays: 90 } },
  deleted: { success: true, packId: EXAMPLE_IDS.pack, deleted: true },
} as const;
