import { concatBytes, utf8, wellFormed } from '../bytes.ts';
import { hashParts, type Sha256Hash } from '../hash.ts';
import { canonicalize, joinMembers } from '../json/canonical.ts';
import { memberTexts } from '../json/member-texts.ts';
import { parseCanonical } from '../json/parse.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { isJsonObject } from '../json/value.ts';
import type { Claims } from '../chain/claims.ts';
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
  suite: Pick<Suite, 'sha256Hex'>,
  word: CommitmentWord,
  salt: Uint8Array,
  text: string,
): Sha256Hash {
  if (salt.length !== SALT_BYTES) throw new RangeError(`a salt has ${SALT_BYTES} bytes`);
  return hashParts(suite, PREFIXES[word], salt, wellFormed(text));
}

/** Commitment to the RFC 8785 text of a value. */
export function commit(
  suite: Pick<Suite, 'sha256Hex'>,
  word: CommitmentWord,
  salt: Uint8Array,
  value: JsonValue,
): Sha256Hash {
  return commitText(suite, word, salt, canonicalize(value));
}

export type DecisionHashes = Pick<Claims, 'dataHash' | 'inputHash' | 'outputHash'>;

/** Canonical texts of a decision and of the parts of it that are committed to one by one. */
export interface DecisionTexts {
  readonly data: string;
  readonly input: string;
  readonly output: string | undefined;
}

/**
 * `input` is `data.input` or else all of `data`; `output` is `data.output` or else `data.decision`, and absent where
 * the decision has neither. Throws `JsonError` where a value has no canonical form.
 */
export function decisionTexts(data: JsonObject): DecisionTexts {
  const members = new Map<string, string>();
  for (const [name, member] of Object.entries(data)) members.set(name, canonicalize(member));
  return partsOf(joinMembers(members), members);
}

export function commitDecision(
  suite: Pick<Suite, 'sha256Hex'>,
  salt: Uint8Array,
  texts: DecisionTexts,
): DecisionHashes {
  return {
    dataHash: commitText(suite, 'meridian/data/1', salt, texts.data),
    inputHash: commitText(suite, 'meridian/input/1', salt, texts.input),
    ...(texts.output === undefined ? {} : { outputHash: commitText(suite, 'meridian/output/1', salt, texts.output) }),
  };
}

/**
 * Whether a disclosed payload and salt are what a record committed to: the whole, and each part that it claims. The
 * answer to a query that is kept nowhere has no `data`: its `queryHash`, which anyone who asked can compute again, is
 * the input that it claims.
 */
export function payloadMatches(
  suite: Pick<Suite, 'sha256Hex'>,
  committed: { readonly payloadHash: Sha256Hash; readonly claims: DecisionHashes },
  salt: Uint8Array,
  payload: JsonValue,
): boolean {
  if (commit(suite, 'meridian/payload/1', salt, payload) !== committed.payloadHash) return false;
  return claimsMatch(suite, committed.claims, salt, payload, decisionTexts);
}

/**
 * The same of a payload's canonical text, which is not made canonical again: each part of it is a slice. A text that is
 * not canonical is nobody's commitment. Throws `JsonError` where it is none that was committed to.
 */
export function payloadTextMatches(
  suite: Pick<Suite, 'sha256Hex'>,
  committed: { readonly payloadHash: Sha256Hash; readonly claims: DecisionHashes },
  salt: Uint8Array,
  text: string,
): boolean {
  if (commitText(suite, 'meridian/payload/1', salt, text) !== committed.payloadHash) return false;
  return claimsMatch(suite, committed.claims, salt, parseCanonical(text), () => {
    const data = memberTexts(text).get('data') ?? '';
    return partsOf(data, memberTexts(data));
  });
}

/** Whether a payload's parts are those that are claimed. `textsOf`: of its decision. */
function claimsMatch(
  suite: Pick<Suite, 'sha256Hex'>,
  { dataHash, inputHash, outputHash }: DecisionHashes,
  salt: Uint8Array,
  payload: JsonValue,
  textsOf: (data: JsonObject) => DecisionTexts,
): boolean {
  if (dataHash === undefined && inputHash === undefined && outputHash === undefined) return true;
  const { data, queryHash } = isJsonObject(payload) ? payload : {};
  if (data === undefined && dataHash === undefined && outputHash === undefined) return inputHash === queryHash;
  if (!isJsonObject(data)) return false;
  const expected = commitDecision(suite, salt, textsOf(data));
  return expected.dataHash === dataHash && expected.inputHash === inputHash && expected.outputHash === outputHash;
}

function partsOf(data: string, members: ReadonlyMap<string, string>): DecisionTexts {
  return {
    data,
    input: members.get('input') ?? data,
    output: members.get('output') ?? members.get('decision'),
  };
}

function prefix(word: CommitmentWord): Uint8Array {
  return concatBytes(utf8(word), Uint8Array.of(0));
}
