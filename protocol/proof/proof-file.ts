import { isJsonObject, type JsonValue } from '../json/value.ts';
import { type Bundle, BUNDLE_FORMAT } from '../verdict/bundle.ts';
import { FileError } from '../verdict/file-reader.ts';
import { parseBundle } from '../verdict/parse.ts';
import { type MisdeedProof, PROOF_FORMAT } from './misdeed.ts';
import { parseProof } from './parse-proof.ts';

/** Of the format before, which no verdict is given on. */
const OLD_FORMAT = 'meridian-bundle/1';

/** A file that a verdict is given on: a bundle or public proof, or a proof of misbehaviour. */
export type ProofFile =
  | { readonly kind: 'bundle'; readonly bundle: Bundle }
  | { readonly kind: 'misbehaviour'; readonly proof: MisdeedProof };

/** Reads a file by what its `format` says. Throws `FileError` where it is neither. */
export function readProofFile(value: JsonValue): ProofFile {
  const format = isJsonObject(value) ? value.format : undefined;
  if (format === PROOF_FORMAT) return { kind: 'misbehaviour', proof: parseProof(value) };
  if (format === OLD_FORMAT) {
    const advice = `it is a ${OLD_FORMAT}: fetch the record again from any node, which gives ${BUNDLE_FORMAT}`;
    throw new FileError('malformed', '/format', advice);
  }
  return { kind: 'bundle', bundle: parseBundle(value) };
}
