import { type NodeId, type RecordId, recordId } from '../../protocol/ids.ts';
import { randomBytesPooled } from '../keys/randomness.ts';

/** Crockford base 32, as ULIDs are written (github.com/ulid/spec). */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;

/** Bytes of randomness that `ulid` takes: the low five bits of each make one character. */
export const ULID_RANDOM_BYTES = 16;

/** 26 characters: 48 bits of milliseconds, then 80 bits from `random`, whose bytes are each evenly spread. */
export function ulid(epochMilliseconds: number, random: Uint8Array): string {
  let text = '';
  let left = Math.floor(epochMilliseconds);
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    text = ALPHABET.charAt(left % ALPHABET.length) + text;
    left = Math.floor(left / ALPHABET.length);
  }
  for (const byte of random) text += ALPHABET.charAt(byte % ALPHABET.length);
  return text;
}

/** The milliseconds that a ULID begins with. */
export function ulidTime(text: string): number {
  let time = 0;
  for (const character of text.slice(0, TIME_CHARACTERS)) time = time * ALPHABET.length + ALPHABET.indexOf(character);
  return time;
}

/** A fresh id of something that a node keeps: its kind's prefix, the node, and a ULID of this moment. */
export function freshId<Id extends string>(
  prefix: string,
  node: NodeId,
  epochMilliseconds: number,
  isId: (text: string) => text is Id,
): Id {
  const id = `${prefix}_${node}_${ulid(epochMilliseconds, randomBytesPooled(ULID_RANDOM_BYTES))}`;
  if (!isId(id)) throw new RangeError(`no ${prefix} id comes of ${node} and ${epochMilliseconds}`);
  return id;
}

/** A fresh id: `att`, node and a ULID of this moment with 80 random bits, e.g. `att_eu_01J…`. */
export function newRecordId(node: NodeId, epochMilliseconds: number): RecordId {
  return recordId(`att_${node}_${ulid(epochMilliseconds, randomBytesPooled(ULID_RANDOM_BYTES))}`);
}
