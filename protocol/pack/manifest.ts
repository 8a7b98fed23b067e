import Type, { type Static } from 'typebox';
import {
  Base64urlShape,
  Closed,
  CountShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { statementKind } from '../statement/statement.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';

export const PACK_FORMAT = 'meridian-pack/1';

/** Sources that one pack may be about. */
export const MAX_PACK_SOURCES = 100;
const Word = Type.String({ minLength: 1 });

/** What a pack answers. The same question at the same node has the same answer. */
export const PackQuestionShape = Closed(
  {
    account: Word,
    /** Every record of these from `from` on and before `to`. In order of their names. */
    sources: Type.Array(Word, { minItems: 1, maxItems: MAX_PACK_SOURCES }),
    /** Systems of the register that the sources are those of; null where sources were asked for by name. */
    systems: OrNull(Type.Array(Word, { minItems: 1, maxItems: MAX_PACK_SOURCES })),
    from: TimestampShape,
    to: TimestampShape,
    /** Nothing that was recorded later is in it. */
    asOf: TimestampShape,
    /** Frameworks of the table of gaps; null: all of the catalogue. */
    frameworks: OrNull(Type.Array(Word)),
    /** Kinds that tables and `records.csv` are narrowed to; null: all. */
    kinds: OrNull(Type.Array(Type.Enum([...RECORD_KINDS]))),
    /** Whether the contents of the records are in it. */
    disclosure: Type.Boolean(),
    /** Whether the records before the period that join on are left out: the account's tier gives no proof of them. */
    withholdsBefore: Type.Optional(Type.Literal(true)),
  },
  { title: 'PackQuestion' },
);
export type PackQuestion = Readonly<Static<typeof PackQuestionShape>>;

const PackFileShape = Closed({ path: Word, bytes: CountShape, sha256: Sha256Shape });

/**
 * What a pack consists of, `manifest.json`: all its files but itself and its signature. The node signs it, and makes a
 * record of its hash.
 */
const ManifestShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('pack'),
  format: Type.Literal(PACK_FORMAT),
  /** The node that made the pack. */
  node: NodeIdShape,
  /** The software that made it. */
  generator: Word,
  catalogueVersion: Word,
  question: PackQuestionShape,
  /** Up to which record of each node's own count the answer reaches. */
  reach: Type.Array(Closed({ node: NodeIdShape, seq: OrdinalShape })),
  /** Records in it, with the neighbours of the period. */
  records: CountShape,
  files: Type.Array(PackFileShape, { maxItems: 64 }),
});
export type PackManifest = Readonly<Static<typeof ManifestShape>>;

export const packStatement = statementKind('pack manifest', 'meridian/pack/1', ManifestShape);

/** `manifest.sig.json`. */
export const PackSignatureShape = Closed({ keyId: Sha256Shape, node: NodeIdShape, signature: Base64urlShape });
export type PackSignature = Readonly<Static<typeof PackSignatureShape>>;

/** Names of the files in a pack, in their order. */
export const PACK_FILES = {
  readme: 'README.txt',
  page: 'index.html',
  report: 'report.pdf',
  records: 'records.jsonl',
  table: 'records.csv',
  batches: 'proofs/batches.jsonl',
  groups: 'proofs/groups.jsonl',
  federation: 'proofs/federation.json',
  frameworks: 'frameworks.json',
  auditLog: 'audit-log.jsonl',
  erasures: 'erasures.json',
  verifierPage: 'meridian-verify.html',
  verifierScript: 'meridian-verify.mjs',
  manifest: 'manifest.json',
  signature: 'manifest.sig.json',
} as const;
