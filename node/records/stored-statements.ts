import { LRUCache } from 'lru-cache';
import { CommonTexts } from '../../protocol/verdict/common-texts.ts';
import { nativeSuite } from '../keys/native-suite.ts';

/** Of each kind; a text and what was read of it take about a kilobyte. */
const MAX_GROUPS = 4_096;
const MAX_ENVELOPES = 512;

/**
 * What was read of the statements that lie in stores, by their texts: a group is signed once for all of its records, and
 * read once for all verdicts on them.
 */
export const storedStatements = new CommonTexts(nativeSuite, {
  decisions: new WeakMap(),
  envelopes: new LRUCache({ max: MAX_ENVELOPES }),
  groups: new LRUCache({ max: MAX_GROUPS }),
});
