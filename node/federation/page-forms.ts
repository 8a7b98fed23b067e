import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import type { WholeTexts } from '../../protocol/chain/record.ts';
import { Closed, NodeIdShape, OrdinalShape, RecordIdShape, Sha256Shape } from '../../protocol/shapes.ts';
import { type SignedStatement, SignedStatementShape } from '../../protocol/statement/statement.ts';
import { joinTexts, splitTexts } from '../records/record-lines.ts';
import { BODY_ROW_RECORDS, bodyTable } from '../records/record-tables.ts';
import { openedLengthOf } from '../store/compressed-text.ts';
import { type Equivocation, EquivocationShape } from './equivocations.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';

/** Bytes after which a page ends at the next group. */
export const PAGE_BYTES = 1 << 20;
/** Envelopes of one page at most. */
export const PAGE_ENVELOPES = 128;
/** Equivocations that a status names at most. */
export const STATUS_EQUIVOCATIONS = 4096;

/** `batches` protocol: what a peer may ask for. */
const PageRequestShape = Type.Union([
  /** The chain of `node` from batch `batch` on, its records from `seq` on. */
  Closed({ want: Type.Literal('chain'), node: NodeIdShape, batch: OrdinalShape, seq: OrdinalShape }),
  /** The envelope of one batch alone. */
  Closed({ want: Type.Literal('envelope'), node: NodeIdShape, batch: OrdinalShape }),
  /** All certificates and revocations of one member. */
  Closed({ want: Type.Literal('keys'), node: NodeIdShape }),
  Closed({ want: Type.Literal('equivocations') }),
  /** Text of the roster that has this hash, in force or named by the peer. */
  Closed({ want: Type.Literal('roster'), hash: Sha256Shape }),
]);
export type PageRequest = Static<typeof PageRequestShape>;

/** `status` protocol: asks where a peer stands. */
export const STATUS_REQUEST = new Uint8Array();

/** `status` protocol: where a peer stands. */
const StatusShape = Closed({
  heads: Type.Array(Closed({ node: NodeIdShape, batch: OrdinalShape, envelope: Sha256Shape }), { maxItems: 1024 }),
  /** Of each member, one hash over its key certificates and revocations that the peer knows. */
  keys: Type.Array(Closed({ node: NodeIdShape, hash: Sha256Shape }), { maxItems: 1024 }),
  equivocations: Type.Array(Closed({ node: NodeIdShape, batch: OrdinalShape }), { maxItems: STATUS_EQUIVOCATIONS }),
});
export type Status = Static<typeof StatusShape>;

const RecordRequestShape = Closed({ id: RecordIdShape });

const PayloadAnswerShape = Type.Union([
  Closed({ state: Type.Literal('available'), salt: Type.String(), text: Type.String() }),
  Closed({ state: Type.Enum(['withheld', 'erased', 'unknown']) }),
]);
export type PayloadAnswer = Static<typeof PayloadAnswerShape>;

export const pageRequest = form('page request', PageRequestShape);
export const status = form('status', StatusShape);
export const recordRequest = form('record request', RecordRequestShape);
export const payloadAnswer = form('payload answer', PayloadAnswerShape);
const signedStatement = form('signed statement', SignedStatementShape);
const equivocation = form('equivocation', EquivocationShape);

/** One frame of a page: a letter for its kind, then its text. */
export type PageItem =
  | {
      readonly kind: 'envelope' | 'group' | 'certificate' | 'revocation';
      readonly signed: SignedStatement;
    }
  | { readonly kind: 'equivocation'; readonly proof: Equivocation }
  /** The next part of a roster's text, which may be longer than a frame. */
  | { readonly kind: 'roster'; readonly part: string }
  | RecordsItem;

/** The next records of a group. */
export interface RecordsItem {
  readonly kind: 'records';
  readonly records: readonly WholeTexts[];
  /** Where they are a whole row of the sender's store: that row as it is stored there. It opens to them. */
  readonly row?: Uint8Array;
}

/** `batches` protocol: from this version on, rows of records come as they are stored. */
export const STORED_ROWS_VERSION = 2;

const LETTERS = {
  envelope: 'E',
  group: 'G',
  certificate: 'K',
  revocation: 'V',
  equivocation: 'Q',
  records: 'R',
  roster: 'O',
} as const;
const KINDS = new Map<string, string>(Object.entries(LETTERS).map(([kind, letter]) => [letter, kind]));

/** First byte of a frame that is a stored row. */
const ROW = 'B'.charCodeAt(0);

export function encodeItem(item: PageItem): Uint8Array {
  if (item.kind === 'records' && item.row !== undefined) return encodeRow(item.row);
  return utf8(LETTERS[item.kind] + bodyOf(item));
}

/** The frame of records that are a whole compressed row of the store. */
export function encodeRow(row: Uint8Array): Uint8Array {
  const frame = new Uint8Array(1 + row.length);
  frame[0] = ROW;
  frame.set(row, 1);
  return frame;
}

/**
 * What a frame takes in memory once it is read, in bytes: where it is a stored row, what it says to open to, and never
 * less than its own length.
 */
export function openedBytes(frame: Uint8Array): number {
  const opened = frame[0] === ROW ? openedLengthOf(frame.subarray(1)) : undefined;
  return Math.max(frame.length, opened ?? 0);
}

function bodyOf(item: PageItem): string {
  switch (item.kind) {
    case 'records':
      return joinTexts(item.records);
    case 'equivocation':
      return JSON.stringify(item.proof);
    case 'roster':
      return item.part;
    default:
      return JSON.stringify(item.signed);
  }
}

/** Throws `PeerStatementError` `malformed`. */
export function decodeItem(frame: Uint8Array): PageItem {
  if (frame[0] === ROW) {
    const row = frame.subarray(1);
    if (openedLengthOf(row) === undefined) throw new PeerStatementError('malformed', 'a row that is not compressed');
    const records = splitTexts(
      malformedUnless(() => bodyTable.decode(row)),
      BODY_ROW_RECORDS + 1,
    );
    // Megabytes of empty ones take more memory and time than the rest of a page.
    if (records.length > BODY_ROW_RECORDS) throw new PeerStatementError('malformed', 'a row of too many records');
    return { kind: 'records', records, row };
  }
  const text = malformedUnless(() => decodeUtf8(frame));
  const kind = KINDS.get(text.slice(0, 1));
  const body = text.slice(1);
  switch (kind) {
    case 'records':
      return { kind, records: splitTexts(body) };
    case 'equivocation':
      return { kind, proof: equivocation.decode(utf8(body)) };
    case 'roster':
      return { kind, part: body };
    case 'envelope':
    case 'group':
    case 'certificate':
    case 'revocation':
      return { kind, signed: signedStatement.decode(utf8(body)) };
    default:
      throw new PeerStatementError('malformed', 'a page frame of no known kind');
  }
}

/**
 * Reads a status. Throws `PeerStatementError` `malformed`, also on one that names a node twice: each name costs work.
 */
export function readStatus(frame: Uint8Array): Status {
  const value = status.decode(frame);
  for (const named of [value.heads, value.keys]) {
    const nodes = new Set(named.map(({ node }) => node));
    if (nodes.size < named.length) throw new PeerStatementError('malformed', 'a status that names a node twice');
  }
  return value;
}

function form<Shape extends TSchema>(name: string, shape: Shape) {
  const compiled = Compile(shape);
  return {
    encode: (value: Static<Shape>): Uint8Array => utf8(JSON.stringify(value)),
    /** Throws `PeerStatementError` `malformed`. */
    decode(bytes: Uint8Array): Static<Shape> {
      const value: unknown = malformedUnless(() => JSON.parse(decodeUtf8(bytes)));
      if (!compiled.Check(value)) throw new PeerStatementError('malformed', `${name} of another shape`);
      return value;
    },
  };
}

function malformedUnless<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new PeerStatementError('malformed', error instanceof Error ? error.message : 'unreadable');
  }
}
