import { hash } from 'node:crypto';

const WORD = 'meridian/regwatch-item/1';
const ID_DIGITS = 32;

/** Id of a source's item: the same on every node, and for every revision. */
export function regItemId(sourceId: string, key: string): string {
  return `rgi_${hash('sha256', [WORD, sourceId, key].join('\0')).slice(0, ID_DIGITS)}`;
}
