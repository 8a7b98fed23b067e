import Type, { type Static } from 'typebox';
import { Base64urlShape, Closed, NodeIdShape } from '../shapes.ts';

/** A roster as it travels: its text and one signature a signing member, by that member's identity key. */
export const SignedRosterShape = Closed({
  statement: Type.String(),
  signatures: Type.Array(Closed({ node: NodeIdShape, signature: Base64urlShape }), { maxItems: 256 }),
});
export type SignedRoster = Static<typeof SignedRosterShape>;
