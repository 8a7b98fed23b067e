import { hash } from 'node:crypto';

/** RFC 5321 §4.5.3.1, and RFC 3696 erratum 1690 for the whole. In characters. */
const MAX_ADDRESS = 254;
const MAX_LOCAL_PART = 64;
const MAX_LABEL = 63;

const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
const DIGITS = /^\d+$/;

/**
 * Tells whether a mail can be addressed to the text: the dot-atom form of RFC 5322 §3.4.1 in ASCII, which is how
 * addresses are written. Quoted local parts, address literals, comments, names and anything that could end a header or
 * an SMTP command are no addresses here.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS) return false;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  const labels = text.slice(at + 1).split('.');
  return (
    local.length <= MAX_LOCAL_PART &&
    LOCAL_PART.test(local) &&
    labels.every((label) => label.length <= MAX_LABEL && LABEL.test(label)) &&
    !DIGITS.test(labels.at(-1) ?? '')
  );
}

/**
 * Tells whether a person can be written to there over the internet: a mail address under a domain of two labels or
 * more.
 */
export function isPublicMailAddress(text: string): boolean {
  return isMailAddress(text) && text.slice(text.lastIndexOf('@')).includes('.');
}

/** What one owner's ways to write an address have in common, hashed, hex. For looking up, never for sending to. */
export function emailDigest(email: string): string {
  return hash('sha256', `meridian/email/1\0${email.toLowerCase()}`, 'hex');
}
