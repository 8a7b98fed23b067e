import Type, { type Static } from 'typebox';
import { CHECKS, FINDING_CODES } from '../bundle/verdict.ts';
import { Closed } from '../shapes.ts';

/** The five checks of a verification (SPEC §2.2). */
export const ChecksShape = Closed({
  leafRederived: Type.Boolean(),
  payloadHashMatch: Type.Boolean(),
  proofWalk: Type.Boolean(),
  bundleBinding: Type.Boolean(),
  sigValid: Type.Boolean(),
});

/** One thing that did not hold, and the check that it fails. */
export const FindingsShape = Type.Array(
  Closed({ check: Type.Enum([...CHECKS]), code: Type.Enum([...FINDING_CODES]), detail: Type.String() }),
);
export type FindingsAnswer = Static<typeof FindingsShape>;

export const CHECKS_EXAMPLE = {
  leafRederived: true,
  payloadHashMatch: true,
  proofWalk: true,
  bundleBinding: true,
  sigValid: true,
};
