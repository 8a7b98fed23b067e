import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { statementKind } from '../statement/statement.ts';

/** A node's identity key withdraws a signing key. What reached consensus before `compromisedSince` stays valid. */
export const RevocationShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('revocation'),
  node: NodeIdShape,
  keyId: Sha256Shape,
  compromisedSince: TimestampShape,
  reason: Type.String({ maxLength: 256 }),
  issuedAt: TimestampShape,
});
export type Revocation = Static<typeof RevocationShape>;

export const revocationStatement = statementKind('revocation', 'meridian/revocation/1', RevocationShape);
