import { Compile } from 'typebox/compile';
import { parseJson } from '../json/parse.ts';
import type { JsonValue } from '../json/value.ts';
import { shapeFault } from '../shape-fault.ts';
import { BUNDLE_MAX_DEPTH, MAX_BUNDLE_CHARACTERS } from '../verdict/bundle.ts';
import { type MisdeedProof, MisdeedProofShape } from './misdeed.ts';

export class ProofError extends Error {
  override readonly name = 'ProofError';
  readonly code: 'too-long' | 'malformed';
  /** JSON pointer of the member at fault; empty where it is the whole. */
  readonly pointer: string;

  constructor(code: ProofError['code'], pointer: string, message: string) {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}

const compiled = Compile(MisdeedProofShape);

/** Reads the text of a proof of misbehaviour. Throws `ProofError`, and `JsonError` on what is not strict JSON. */
export function parseProofText(text: string): MisdeedProof {
  if (text.length > MAX_BUNDLE_CHARACTERS) {
    throw new ProofError('too-long', '', `a proof has at most ${MAX_BUNDLE_CHARACTERS} characters`);
  }
  return parseProof(parseJson(text, { maxDepth: BUNDLE_MAX_DEPTH }));
}

/** Reads the shape of a proof whose JSON was read strictly. Throws `ProofError`. */
export function parseProof(value: JsonValue): MisdeedProof {
  if (compiled.Check(value)) return value;
  const { pointer, message } = shapeFault(compiled, value);
  throw new ProofError('malformed', pointer, message);
}
