import Type, { type Static } from 'typebox';
import { Base64urlShape, Closed, NodeIdShape } from '../shapes.ts';

/**
 * The genesis roster as it travels: its text, and the signature of each of its members by its identity key. Later
 * rosters are texts alone: the names of a majority on the ledger put them in force.
 */
export const SignedRosterShape = Closed({
  statement: Type.String(),
  signatures: Type.Array(Closed({ node: NodeIdShape, signature: Base64urlShape }), { maxItems: 256 }),
});
export type SignedRoster = Static<typeof SignedRosterShape>;
