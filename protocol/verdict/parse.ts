import type { JsonValue } from '../json/value.ts';
import {
  type Bundle,
  BundleShape,
  type PublicProof,
  PublicProofShape,
  type RevocationsFile,
  RevocationsFileShape,
  type RosterFile,
  RosterFileShape,
} from './bundle.ts';
import { fileJson, fileReader } from './file-reader.ts';

const bundle = fileReader(BundleShape);
const publicProof = fileReader(PublicProofShape);
const revocationsFile = fileReader(RevocationsFileShape);
const rosterFile = fileReader(RosterFileShape);

/** Reads the text of a bundle, a public proof too. Throws `FileError`, and `JsonError` on what is not strict JSON. */
export function parseBundleText(text: string): Bundle {
  return bundle(fileJson(text));
}

/** Reads the shape of a bundle whose JSON was read strictly. Throws `FileError`. */
export function parseBundle(value: JsonValue): Bundle {
  return bundle(value);
}

/** Reads the text of a bundle that shows no body. Throws `FileError` and `JsonError`. */
export function parsePublicProofText(text: string): PublicProof {
  return publicProof(fileJson(text));
}

/** Reads the text of a file of revocations. Throws `FileError` and `JsonError`. */
export function parseRevocationsText(text: string): RevocationsFile {
  return revocationsFile(fileJson(text));
}

/** Reads the text of a file of rosters, the list that a bundle carries. Throws `FileError` and `JsonError`. */
export function parseRosterFileText(text: string): RosterFile {
  return rosterFile(fileJson(text));
}
