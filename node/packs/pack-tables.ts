import Type, { type Static } from 'typebox';
import { isPackId, type PackId, PackIdShape } from '../../protocol/api/evidence-packs.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import { type PackQuestion, PackQuestionShape, PackSignatureShape } from '../../protocol/pack/manifest.ts';
import {
  Closed,
  CountShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  RecordIdShape,
  Sha256Shape,
  TimestampShape,
} from '../../protocol/shapes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { freshId } from '../records/record-id.ts';
import { compressedTextCodec } from '../store/compressed-text.ts';
import { jsonTable, numberCodec, Table, textCodec } from '../store/table.ts';

/** `gone`: deleted, or its lifetime is over; what it answers stays fixed for whoever asks the same again. */
const ROW_STATES = ['queued', 'building', 'ready', 'failed', 'gone'] as const;

const MadeShape = Closed({
  manifestHash: Sha256Shape,
  attestationId: RecordIdShape,
  records: CountShape,
  /** Length of the file. */
  bytes: CountShape,
  readyAt: TimestampShape,
});

const PackRowShape = Closed({
  id: PackIdShape,
  question: PackQuestionShape,
  /** Who had it made: an API key, or who signs in by mail. Absent: an earlier release did not keep it. */
  askedBy: Type.Optional(Type.String()),
  createdAt: TimestampShape,
  /** What the first asking fixed: how far the answer reaches at each node, and which lines of the account's log are in. */
  reach: Type.Array(Closed({ node: NodeIdShape, seq: CountShape })),
  auditLog: OrNull(Closed({ first: OrdinalShape, end: OrdinalShape })),
  catalogueVersion: Type.String(),
  /** Software that its bytes come from. */
  generator: Type.String(),
  state: Type.Enum([...ROW_STATES]),
  failure: OrNull(Type.String()),
  made: OrNull(MadeShape),
  /** Records of erasures, and refusals of them, that it takes into account. */
  erasures: CountShape,
  /** Files that an earlier pack for the question had otherwise. */
  replaced: Type.Array(Closed({ path: Type.String(), reason: Type.String() })),
});
/** A pack, and the question that it answers for good. */
export type PackRow = Readonly<Static<typeof PackRowShape>>;
export type MadeFacts = NonNullable<PackRow['made']>;

/** (account, pack id) → the pack. */
export const packTable = jsonTable('pack', PackRowShape);
/** (account, hash of a question) → id of the pack that answers it. */
export const packQuestionTable = new Table('pack-question', textCodec);
/** (pack id) → what is said of the federation in it: its checkpoints are kept for it. */
export const packFederationTable = new Table('pack-federation', compressedTextCodec);
const SignatureRowShape = Closed({ manifestHash: Sha256Shape, ...PackSignatureShape.properties });
/** (pack id) → the signature over its manifest: the same manifest keeps it. */
export const packSignatureTable = jsonTable('pack-signature', SignatureRowShape);
/** (account) → the latest `asOf` of the questions that are forgotten: an older one is not answered anew. */
export const packHorizonTable = new Table('pack-horizon', textCodec);
/** (account) → days that files of its packs are kept. */
export const packLifetimeTable = new Table('pack-lifetime', numberCodec);

/** A fresh id of this moment. */
export function newPackId(node: NodeId, epochMilliseconds: number): PackId {
  return freshId('pack', node, epochMilliseconds, isPackId);
}

/** Names a question: the same for the same one. Without a slash, so that it may stand in a key. */
export function questionHash(question: PackQuestion): Sha256Hash {
  return hashText(nativeSuite, canonicalize(question));
}
