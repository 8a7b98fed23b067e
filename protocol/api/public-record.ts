import Type, { type Static } from 'typebox';
import { SignedRosterShape } from '../keys/signed-roster.ts';
import { Closed, CountShape, CursorShape, NodeIdShape, OrdinalShape, OrNull } from '../shapes.ts';
import { SignedStatementShape } from '../statement/statement.ts';

/** Characters of statements and signatures after which a page ends, once it has one entry. */
export const PUBLIC_PAGE_CHARACTERS = 512 << 10;
/** Entries of one page at most. */
export const PUBLIC_PAGE_ENTRIES = 64;

export const FromQueryShape = Closed({ from: Type.Optional(OrdinalShape) });
export const CursorQueryShape = Closed({ cursor: Type.Optional(CursorShape) });

const ServedBatchShape = Closed({
  batch: OrdinalShape,
  envelope: SignedStatementShape,
});

/** `GET /v1/chains/:node`. */
export const ChainAnswerShape = Closed({
  success: Type.Literal(true),
  node: NodeIdShape,
  /** Last batch that the answering node holds; 0 for none. */
  head: CountShape,
  batches: Type.Array(ServedBatchShape, { maxItems: PUBLIC_PAGE_ENTRIES }),
  /** Where the next page begins; null where there is nothing after this one. */
  nextFrom: OrNull(OrdinalShape),
});
export type ChainAnswer = Static<typeof ChainAnswerShape>;

const Cursor = OrNull(Type.String({ maxLength: 1024 }));

/** `GET /v1/signing-keys`. */
export const SigningKeysAnswerShape = Closed({
  success: Type.Literal(true),
  certificates: Type.Array(SignedStatementShape, { maxItems: PUBLIC_PAGE_ENTRIES }),
  revocations: Type.Array(SignedStatementShape, { maxItems: PUBLIC_PAGE_ENTRIES }),
  nextCursor: Cursor,
});
export type SigningKeysAnswer = Static<typeof SigningKeysAnswerShape>;

/** `GET /v1/rosters`. */
export const RostersAnswerShape = Closed({
  success: Type.Literal(true),
  /** Of the genesis roster, by all its members; empty where the page does not begin with it. */
  signatures: SignedRosterShape.properties.signatures,
  /** Texts of the rosters in force, in order of versions. */
  rosters: Type.Array(Type.String(), { maxItems: PUBLIC_PAGE_ENTRIES }),
  /** Text of the roster that the answering node has named to follow the one in force, if it has. */
  named: Type.Array(Type.String(), { maxItems: 1 }),
  nextFrom: OrNull(OrdinalShape),
});
export type RostersAnswer = Static<typeof RostersAnswerShape>;

const SIGNED = { statement: '{"batch":1204,"envelope":"sha256:9f86…","type":"…"}', signature: 'mZ3kF1qW8t' };

export const CHAIN_EXAMPLE = {
  success: true,
  node: 'eu',
  head: 1204,
  batches: [{ batch: 1204, envelope: SIGNED }],
  nextFrom: null,
};
export const SIGNING_KEYS_EXAMPLE = { success: true, certificates: [SIGNED], revocations: [], nextCursor: null };
export const ROSTERS_EXAMPLE = {
  success: true,
  signatures: [{ node: 'eu', signature: SIGNED.signature }],
  rosters: ['{"issuedAt":"2026-01-01T00:00:00.000Z","ledger":{"network":"…"}}'],
  named: [],
  nextFrom: null,
};
