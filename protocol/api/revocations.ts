import Type, { type Static } from 'typebox';
import { Closed, CursorShape, OrNull } from '../shapes.ts';
import { SignedStatementShape } from '../statement/statement.ts';

/** Revocations of one page at most. */
export const PAGE_REVOCATIONS = 64;

export const RevocationsQueryShape = Closed({ cursor: Type.Optional(CursorShape) });

/** `GET /v1/revocations`. */
export const RevocationsAnswerShape = Closed({
  success: Type.Literal(true),
  /** By member and key; of several for a key that of the earliest compromise. */
  revocations: Type.Array(SignedStatementShape, { maxItems: PAGE_REVOCATIONS }),
  nextCursor: OrNull(CursorShape),
});
export type RevocationsAnswer = Static<typeof RevocationsAnswerShape>;

export const REVOCATIONS_EXAMPLE = {
  success: true,
  revocations: [
    {
      statement:
        '{"compromisedSince":"2026-11-20T08:00:00.000Z","issuedAt":"2026-11-21T09:30:00.000Z","keyId":"sha256:9f86…","node":"eu","reason":"compromised","type":"revocation","v":2}',
      signature: 'mZ3kF1qW8t',
    },
  ],
  nextCursor: null,
};
