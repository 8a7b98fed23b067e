import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { statementKind } from '../statement/statement.ts';

/**
 * `rotated`: the key is out of use, what it signed stands. `compromised`: somebody else may have held it since
 * `compromisedSince` (protocol §5).
 */
export const REVOCATION_REASONS = ['rotated', 'compromised'] as const;

/** A node's identity key takes back one of its signing keys. It is in force once it is decided. */
const RevocationShape = Closed({
  v: Type.Literal(2),
  type: Type.Literal('revocation'),
  node: NodeIdShape,
  keyId: Sha256Shape,
  reason: Type.Enum([...REVOCATION_REASONS]),
  /** Null exactly where the key was rotated. */
  compromisedSince: Type.Union([TimestampShape, Type.Null()]),
  issuedAt: TimestampShape,
});
export type Revocation = Static<typeof RevocationShape>;

export const revocationStatement = statementKind('revocation', 'meridian/revocation/1', RevocationShape);

/**
 * From when on what the key signed falls, in epoch milliseconds: no earlier than `reach` seconds, as the roster in force
 * there has it, before the revocation was decided (protocol §5). Null of a rotated key, of which all stands.
 */
export function fallsFrom({ compromisedSince }: Revocation, decidedAt: number, reach: number): number | null {
  return compromisedSince === null ? null : Math.max(Date.parse(compromisedSince), decidedAt - 1_000 * reach);
}

/** Whether reason and time of a revocation go together. */
export function isWholeRevocation({ reason, compromisedSince }: Revocation): boolean {
  return (reason === 'rotated') === (compromisedSince === null);
}
