import { type NodeId, type RecordId, recordId } from '../../protocol/ids.ts';
import { randomBytesPooled } from '../randomness.ts';

/** What a record id's first letters say. */
export type IdPrefix = 'att';

/** Crockford base 32, as ULIDs are written (github.com/ulid/spec). */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

/** A fresh id: prefix, node and a ULID of this moment with 80 random bits, e.g. `att_eu_01J…`. */
export function newRecordId(prefix: IdPrefix, node: NodeId, epochMilliseconds: number): RecordId {
  return recordId(`${prefix}_${node}_${timePart(epochMilliseconds)}${randomPart()}`);
}

function timePart(epochMilliseconds: number): string {
  let text = '';
  let left = Math.floor(epochMilliseconds);
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    text = ALPHABET.charAt(left % 32) + text;
    left = Math.floor(left / 32);
  }
  return text;
}

/** 256 is a multiple of 32, so the low five bits of a random byte are evenly spread. */
function randomPart(): string {
  let text = '';
  for (const byte of randomBytesPooled(RANDOM_CHARACTERS)) text += ALPHABET.charAt(byte & 31);
  return text;
}
