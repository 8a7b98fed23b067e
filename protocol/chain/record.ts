import Type, { type Static } from 'typebox';
import { hashText } from '../hash.ts';
import { nodeOfRecord } from '../ids.ts';
import { leafHash } from '../merkle/hash.ts';
import { countValues } from '../json/parse.ts';
import { Compile } from '../shape-check.ts';
import { shapeFault } from '../shape-fault.ts';
import { Closed, NodeIdShape, OrdinalShape, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { canonicalText, StatementError } from '../statement/statement.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import type { Suite } from '../suite/suite.ts';
import { ClaimsShape, LinksShape } from './claims.ts';

/** The public half of a record: that it exists, of what kind, by which node, and when (protocol §7). */
const HeadShape = Closed({
  v: Type.Literal(2),
  id: RecordIdShape,
  kind: Type.Enum([...RECORD_KINDS]),
  node: NodeIdShape,
  /** The node's own gapless counter, from 1. */
  seq: OrdinalShape,
  submittedAt: TimestampShape,
  /** SHA-256 of the body's text. The salted `payloadHash` in it keeps this hash from telling anything. */
  body: Sha256Shape,
});
export type RecordHead = Static<typeof HeadShape>;

const ContentShape = Closed({
  account: Type.String({ minLength: 1, maxLength: 64 }),
  sourceId: Type.String({ minLength: 1 }),
  payloadHash: Sha256Shape,
  claims: ClaimsShape,
  links: LinksShape,
});
/** What a record says, whatever place it gets. */
export type RecordContent = Static<typeof ContentShape>;

/** The other half: whose the record is, what it claims and what it is linked to. */
const BodyShape = Closed({
  ...ContentShape.properties,
  /** Gapless counter of the account's source on this node, from 1, and the leaf hash of the record before. */
  sourceSeq: OrdinalShape,
  sourcePrev: Type.Union([Sha256Shape, Type.Null()]),
});
export type RecordBody = Static<typeof BodyShape>;

/** A record with both halves: all that Meridian signs about one event. Everything else is derived from it. */
export type AttestationRecord = RecordHead & RecordBody;

/** The two texts of a record. A public proof carries the head alone. */
export interface RecordTexts {
  readonly head: string;
  readonly body: string | null;
}

/** Both texts of a record. */
export interface WholeTexts extends RecordTexts {
  readonly body: string;
}

/** A record with its exact texts. */
export interface WrittenRecord {
  readonly record: AttestationRecord;
  readonly texts: WholeTexts;
}

/** Longest head and body that are read, in UTF-16 units: no closed head is longer, and no request is. */
const MAX_HEAD_LENGTH = 1024;
const MAX_BODY_LENGTH = 1 << 20;
/** Members and items of a body that is parsed: no request has half as many, and what a parser holds grows with them. */
const MAX_BODY_VALUES = 1 << 17;

const content = Compile(ContentShape);
const headText = canonicalText('record head', HeadShape);
const bodyText = canonicalText('record body', BodyShape);

type Hashing = Pick<Suite, 'sha256Hex'>;

/** Throws `StatementError` where no record of this content would read: nobody could derive it. */
export function requireContent({ account, claims, links, payloadHash, sourceId }: RecordContent): void {
  const value = { account, claims, links, payloadHash, sourceId };
  if (content.Check(value)) return;
  const { pointer, message } = shapeFault(content, value);
  throw new StatementError(`record content: ${pointer} ${message}`);
}

/** Whether one of the texts is longer than any that is read. */
export function isTooLong({ head, body }: RecordTexts): boolean {
  return head.length > MAX_HEAD_LENGTH || (body?.length ?? 0) > MAX_BODY_LENGTH;
}

/** A record of these members, and its texts. */
export function makeRecord(suite: Hashing, fields: Omit<AttestationRecord, 'body' | 'v'>): WrittenRecord {
  const { account, claims, id, kind, links, node, payloadHash, seq, sourceId, sourcePrev, sourceSeq, submittedAt } =
    fields;
  // Members stand in canonical order, so that each text costs one native call.
  const rest: RecordBody = { account, claims, links, payloadHash, sourceId, sourcePrev, sourceSeq };
  const body = bodyText.write(rest);
  const head: RecordHead = { body: hashText(suite, body), id, kind, node, seq, submittedAt, v: 2 };
  return {
    record: { ...rest, body: head.body, id, kind, node, seq, submittedAt, v: 2 },
    texts: { head: headText.write(head), body },
  };
}

/** The two texts of a record whose `body` is not known yet. */
export function writeRecord(suite: Hashing, fields: Omit<AttestationRecord, 'body' | 'v'>): WholeTexts {
  return makeRecord(suite, fields).texts;
}

/** The record of two texts. Throws `StatementError` where one does not read, or the head names another body. */
export function openRecord(suite: Hashing, { head: text, body }: WholeTexts): AttestationRecord {
  const head = readHead(text);
  return { ...head, ...readBody(suite, head, body) };
}

/** The record of two texts that `openRecord` took before. Throws `StatementError` where one is of another shape. */
export function rereadRecord({ head, body }: WholeTexts): AttestationRecord {
  return { ...headText.reread(head), ...bodyText.reread(body) };
}

/**
 * The head of a record. Throws `StatementError` where it is not canonical, of another shape, or its id of another node.
 */
export function readHead(text: string): RecordHead {
  if (text.length > MAX_HEAD_LENGTH) throw new StatementError('record head: is longer than any');
  const head = headText.parse(text);
  if (nodeOfRecord(head.id) !== head.node) throw new StatementError('record head: the id names another node');
  return head;
}

/** The body that a head names. Throws `StatementError` where it is another one, not canonical, or of another shape. */
export function readBody(suite: Hashing, head: Pick<RecordHead, 'body'>, text: string): RecordBody {
  if (!text.isWellFormed()) throw new StatementError('record body: holds a lone surrogate');
  if (text.length > MAX_BODY_VALUES && countValues(text) > MAX_BODY_VALUES) {
    throw new StatementError('record body: has more members and items than any');
  }
  if (hashText(suite, text) !== head.body) throw new StatementError('record body: is not the one that the head names');
  const body = bodyText.parse(text);
  if ((body.sourceSeq === 1) !== (body.sourcePrev === null)) {
    throw new StatementError('record body: only the first record of a source has none before it');
  }
  return body;
}

/** Whether a head names this body. For texts that were read before: neither is looked into. */
export function namesBody(suite: Hashing, { head, body }: WholeTexts): boolean {
  return head.startsWith(`{"body":"${hashText(suite, body)}",`);
}

/** Leaf of a record: RFC 9162 leaf hash of its head's text, 32 bytes. */
export function recordLeaf(suite: Pick<Suite, 'sha256'>, head: string): Uint8Array {
  return leafHash(suite, head);
}
