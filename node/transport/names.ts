import type { MemberProtocol } from '../accounts/limits/route-weights.ts';
import { type Topic, TOPICS } from './contract.ts';

const VERSION = 1;
const DIGEST = /^[0-9a-f]{8}$/;

/** Wire names of one federation's topics and protocols. */
export interface WireNames {
  readonly topics: readonly string[];
  topic(topic: Topic): string;
  /** The topic behind a wire name; null for any other text. */
  topicOf(name: string): Topic | null;
  protocol(protocol: MemberProtocol): string;
}

/**
 * Names for the federation with this digest, 8 lower-case hex digits.
 * @throws RangeError for any other digest
 */
export function wireNames(digest: string): WireNames {
  if (!DIGEST.test(digest)) throw new RangeError('a federation digest has 8 lower-case hex digits');
  const wire = (name: string): string => `/meridian/${digest}/${name}/${VERSION}`;
  const byName = new Map(TOPICS.map((topic) => [wire(topic), topic]));
  return {
    topics: [...byName.keys()],
    topic: wire,
    topicOf: (name) => byName.get(name) ?? null,
    protocol: wire,
  };
}
