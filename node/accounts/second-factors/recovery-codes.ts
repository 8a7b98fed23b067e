import { hash, randomInt } from 'node:crypto';
import { RECOVERY_CODES } from '../../../protocol/api/second-factors.ts';

/** Crockford's base 32: no I, L, O, U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP_CHARACTERS = 4;

/** Fresh codes of 80 random bits, as `7QK2-M9XD-0RTA-W5HZ`. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => Array.from({ length: GROUPS }, group).join('-'));
}

/** SHA-256 of a code, hex: all that is kept of it. Case, spaces and hyphens are those of whoever types. */
export function recoveryCodeDigest(code: string): string {
  return hash('sha256', `meridian/recovery-code/1\0${code.replaceAll(/[\s-]/g, '').toUpperCase()}`, 'hex');
}

function group(): string {
  return Array.from({ length: GROUP_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
