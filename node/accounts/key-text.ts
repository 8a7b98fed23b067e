import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isNodeId, type NodeId } from '../../protocol/ids.ts';

/** Shortest API key taken: keys are random, so a hash without salt and stretching protects them. */
export const MIN_API_KEY_CHARACTERS = 32;
/** Longer texts are no keys of ours and are not worth hashing. */
export const MAX_API_KEY_CHARACTERS = 256;

const PREFIX = 'mk_';
const SECRET_BYTES = 32;
const CHECKSUM_BYTES = 4;
/**
 * `mk_`, the node that made it and `_`, 256 random bits in 43 characters, and the CRC-32 of all between `mk_` and
 * itself in 6, both base64url. Keys of earlier releases name no node.
 */
const NEW_KEY = /^mk_((?:([a-z]{2}[0-9]{0,2})_)?[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/;
/** What a header carries unchanged. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** The text of a fresh API key of a home. Anyone who calls this shows it once and keeps nothing of it. */
export function newKeyText(home: NodeId): string {
  const named = `${home}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return PREFIX + named + checksumOf(named);
}

/** The node that a key's own text says it was made at; undefined where it says none, or a character of it is wrong. */
export function homeOfKey(text: string): NodeId | undefined {
  const [, named = '', home = '', checksum] = NEW_KEY.exec(text) ?? [];
  return checksum === checksumOf(named) && isNodeId(home) ? home : undefined;
}

/** Whether a text has the length and letters of a key made here and not its checksum: a character is wrong. */
export function isMistyped(text: string): boolean {
  const [, named, , checksum] = NEW_KEY.exec(text) ?? [];
  return named !== undefined && checksum !== checksumOf(named);
}

/** Whether a text that an operator brings may be a key: long enough, and fit for a header. */
export function isStrongEnough(text: string): boolean {
  return text.length >= MIN_API_KEY_CHARACTERS && text.length <= MAX_API_KEY_CHARACTERS && VISIBLE_ASCII.test(text);
}

/** SHA-256 of a key's text, hex: all that is kept of it. */
export function keyDigest(text: string): string {
  return hash('sha256', text, 'hex');
}

function checksumOf(named: string): string {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32BE(crc32(named));
  return bytes.toString('base64url');
}
