import { hash } from 'node:crypto';
import { isMailAddress } from '../mail/mail-address.ts';

/** Tells whether a person can be written to there over the internet: a mail address under a domain of two labels or more. */
export function isPublicMailAddress(text: string): boolean {
  return isMailAddress(text) && text.slice(text.lastIndexOf('@')).includes('.');
}

/** What one owner's ways to write an address have in common, hashed, hex. For looking up, never for sending to. */
export function emailDigest(email: string): string {
  return hash('sha256', `meridian/email/1\0${email.toLowerCase()}`, 'hex');
}
