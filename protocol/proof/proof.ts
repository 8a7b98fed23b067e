import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseJson } from '../json/parse.ts';
import { SignedRosterShape } from '../keys/signed-roster.ts';
import { shapeFault } from '../shape-fault.ts';
import { Closed } from '../shapes.ts';
import { SignedStatementShape } from '../statement/statement.ts';

export const PROOF_FORMAT = 'meridian-proof/1';

const MISDEEDS = [
  /** Two envelopes for one batch number, both signed by its node. */
  'equivocation',
  /** Two envelopes of one node of consecutive numbers, of which the second does not follow; or a wrong first one. */
  'broken-chain',
  /** Two rosters of one version that one member signed. */
  'double-roster',
] as const;
export type Misdeed = (typeof MISDEEDS)[number];

/** Statements of one kind at most: what a federation of 256 members has signed by in years. */
const MAX_STATEMENTS = 1024;

/** What a member did against the protocol, under its own signature: one file that needs no network and no trust. */
const MisdeedProofShape = Closed({
  format: Type.Literal(PROOF_FORMAT),
  misdeed: Type.Enum([...MISDEEDS]),
  /** The statements that contradict each other or the protocol; empty for rosters, which stand in `contradicting`. */
  statements: Type.Array(SignedStatementShape, { maxItems: 2 }),
  /** Two rosters, for `double-roster`; else empty. */
  contradicting: Type.Array(SignedRosterShape, { maxItems: 2 }),
  /** The certificates of the keys that signed the statements. */
  keys: Type.Array(SignedStatementShape, { maxItems: MAX_STATEMENTS }),
  /** Revocations of those keys that were known when the file was written. */
  revocations: Type.Array(SignedStatementShape, { maxItems: MAX_STATEMENTS }),
  /** From genesis on. */
  rosters: Type.Array(SignedRosterShape, { minItems: 1, maxItems: MAX_STATEMENTS }),
});
export type MisdeedProof = Static<typeof MisdeedProofShape>;

export class ProofError extends Error {
  override readonly name = 'ProofError';
}

const compiled = Compile(MisdeedProofShape);

/** Reads the text of a proof. Throws `JsonError` on what is not strict JSON, and `ProofError` on any other form. */
export function parseProofText(text: string): MisdeedProof {
  const value = parseJson(text);
  if (compiled.Check(value)) return value;
  const { pointer, message } = shapeFault(compiled, value);
  throw new ProofError(`the proof: ${pointer} ${message}`);
}
