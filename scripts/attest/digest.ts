import { hash } from 'node:crypto';

/** Characters that are kept of a SHA-256 in base64url: 132 bits tell any two texts apart. */
const CHARACTERS = 22;
const DIGEST = new RegExp(`^[A-Za-z0-9_-]{${CHARACTERS}}$`);

/** By which a text that was sent is known again. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, CHARACTERS);
}

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}
