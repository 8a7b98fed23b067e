import type { JsonValue } from '../json/value.ts';
import { fileJson, fileReader } from '../verdict/file-reader.ts';
import { type MisdeedProof, MisdeedProofShape } from './misdeed.ts';

const misdeedProof = fileReader(MisdeedProofShape);

/** Reads the text of a proof of misbehaviour. Throws `FileError`, and `JsonError` on what is not strict JSON. */
export function parseProofText(text: string): MisdeedProof {
  return misdeedProof(fileJson(text));
}

/** Reads the shape of a proof whose JSON was read strictly. Throws `FileError`. */
export function parseProof(value: JsonValue): MisdeedProof {
  return misdeedProof(value);
}
