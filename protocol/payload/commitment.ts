import { concatBytes, utf8 } from '../bytes.ts';
import { type Sha256Hash, writeSha256 } from '../hash.ts';
import { canonicalize } from '../json/canonical.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { isJsonObject } from '../json/value.ts';
import type { Claims } from '../statement/record.ts';
import type { Suite } from '../suite/suite.ts';

export const SALT_BYTES = 32;

/** What is committed to. The word keeps the commitment of one thing from standing for another. */
export type CommitmentWord = 'meridian/payload/1' | 'meridian/data/1' | 'meridian/input/1' | 'meridian/output/1';

const PREFIXES: Readonly<Record<CommitmentWord, Uint8Array>> = {
  'meridian/payload/1': prefix('meridian/payload/1'),
  'meridian/data/1': prefix('meridian/data/1'),
  'meridian/input/1': prefix('meridian/input/1'),
  'meridian/output/1': prefix('meridian/output/1'),
};

/** SHA-256(word ‖ 0x00 ‖ salt ‖ UTF-8(text)): hiding as long as the 32-byte salt is secret, binding always. */
export function commitText(
  suite: Pick<Suite, 'sha256'>,
  word: CommitmentWord,
  salt: Uint8Array,
  text: string,
): Sha256Hash {
  if (salt.length !== SALT_BYTES) throw new RangeError(`a salt has ${SALT_BYTES} bytes`);
  return writeSha256(suite.sha256(PREFIXES[word], salt, utf8(text)));
}

/** Commitment to the RFC 8785 text of a value. */
export function commit(
  suite: Pick<Suite, 'sha256'>,
  word: CommitmentWord,
  salt: Uint8Array,
  value: JsonValue,
): Sha256Hash {
  return commitText(suite, word, salt, canonicalize(value));
}

export type DecisionHashes = Pick<Claims, 'dataHash' | 'inputHash' | 'outputHash'>;

/**
 * The commitments to a decision's parts: `input` is `data.input` or else all of `data`; `output` is `data.output` or
 * else `data.decision`, and absent where the decision has neither.
 */
export function commitDecision(suite: Pick<Suite, 'sha256'>, salt: Uint8Array, data: JsonObject): DecisionHashes {
  const dataText = canonicalize(data);
  const output = data.output ?? data.decision;
  return {
    dataHash: commitText(suite, 'meridian/data/1', salt, dataText),
    inputHash: commitText(
      suite,
      'meridian/input/1',
      salt,
      data.input === undefined ? dataText : canonicalize(data.input),
    ),
    ...(output === undefined ? {} : { outputHash: commit(suite, 'meridian/output/1', salt, output) }),
  };
}

/** Whether a disclosed payload and salt are what a record committed to: the whole, and each part that it claims. */
export function payloadMatches(
  suite: Pick<Suite, 'sha256'>,
  committed: { readonly payloadHash: Sha256Hash; readonly claims: DecisionHashes },
  salt: Uint8Array,
  payload: JsonValue,
): boolean {
  if (commit(suite, 'meridian/payload/1', salt, payload) !== committed.payloadHash) return false;
  const { dataHash, inputHash, outputHash } = committed.claims;
  if (dataHash === undefined && inputHash === undefined && outputHash === undefined) return true;
  const data = isJsonObject(payload) ? payload.data : undefined;
  if (!isJsonObject(data)) return false;
  const expected = commitDecision(suite, salt, data);
  return expected.dataHash === dataHash && expected.inputHash === inputHash && expected.outputHash === outputHash;
}

function prefix(word: CommitmentWord): Uint8Array {
  return concatBytes(utf8(word), Uint8Array.of(0));
}
