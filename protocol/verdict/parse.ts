import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseJson } from '../json/parse.ts';
import type { JsonValue } from '../json/value.ts';
import { shapeFault } from '../shape-fault.ts';
import {
  type Bundle,
  BUNDLE_MAX_DEPTH,
  BundleShape,
  MAX_BUNDLE_CHARACTERS,
  type PublicProof,
  PublicProofShape,
  type RevocationsFile,
  RevocationsFileShape,
  type RosterFile,
  RosterFileShape,
} from './bundle.ts';

export class BundleError extends Error {
  override readonly name = 'BundleError';
  readonly code: 'too-long' | 'malformed';
  /** JSON pointer of the member at fault; empty where it is the whole. */
  readonly pointer: string;

  constructor(code: BundleError['code'], pointer: string, message: string) {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}

const bundle = reader(BundleShape);
const publicProof = reader(PublicProofShape);
const revocationsFile = reader(RevocationsFileShape);
const rosterFile = reader(RosterFileShape);

/** Reads the text of a bundle, a public proof too. Throws `BundleError`, and `JsonError` on what is not strict JSON. */
export function parseBundleText(text: string): Bundle {
  return bundle(jsonOf(text));
}

/** Reads the shape of a bundle whose JSON was read strictly. Throws `BundleError`. */
export function parseBundle(value: JsonValue): Bundle {
  return bundle(value);
}

/** Reads the text of a bundle that shows no body. Throws `BundleError` and `JsonError`. */
export function parsePublicProofText(text: string): PublicProof {
  return publicProof(jsonOf(text));
}

/** Reads the text of a file of revocations. Throws `BundleError` and `JsonError`. */
export function parseRevocationsText(text: string): RevocationsFile {
  return revocationsFile(jsonOf(text));
}

/** Reads the text of a file of rosters, the list that a bundle carries. Throws `BundleError` and `JsonError`. */
export function parseRosterFileText(text: string): RosterFile {
  return rosterFile(jsonOf(text));
}

function jsonOf(text: string): JsonValue {
  if (text.length > MAX_BUNDLE_CHARACTERS) {
    throw new BundleError('too-long', '', `a bundle has at most ${MAX_BUNDLE_CHARACTERS} characters`);
  }
  return parseJson(text, { maxDepth: BUNDLE_MAX_DEPTH });
}

function reader<Shape extends TSchema>(shape: Shape): (value: JsonValue) => Static<Shape> {
  const compiled = Compile(shape);
  return (value) => {
    if (compiled.Check(value)) return value;
    const { pointer, message } = shapeFault(compiled, value);
    throw new BundleError('malformed', pointer, message);
  };
}
