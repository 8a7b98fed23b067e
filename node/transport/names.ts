import type { MemberProtocol } from '../accounts/limits/route-weights.ts';
import { type Topic, TOPICS } from './contract.ts';

const VERSION = 1;
/** Versions of a protocol that this node answers, newest first, where there are others than `VERSION`. */
const VERSIONS: Partial<Record<MemberProtocol, readonly number[]>> = { batches: [2, 1] };
const DIGEST = /^[0-9a-f]{8}$/;

/** One version of a protocol. */
export interface WireProtocol {
  readonly name: string;
  readonly version: number;
}

/** Wire names of one federation's topics and protocols. */
export interface WireNames {
  readonly topics: readonly string[];
  topic(topic: Topic): string;
  /** The topic behind a wire name; null for any other text. */
  topicOf(name: string): Topic | null;
  /** Newest version first. */
  protocols(protocol: MemberProtocol): readonly WireProtocol[];
}

/**
 * Names for the federation with this digest, 8 lower-case hex digits.
 * @throws RangeError for any other digest
 */
export function wireNames(digest: string): WireNames {
  if (!DIGEST.test(digest)) throw new RangeError('a federation digest has 8 lower-case hex digits');
  const wire = (name: string, version = VERSION): string => `/meridian/${digest}/${name}/${version}`;
  const byName = new Map(TOPICS.map((topic) => [wire(topic), topic]));
  return {
    topics: [...byName.keys()],
    topic: (topic) => wire(topic),
    topicOf: (name) => byName.get(name) ?? null,
    protocols: (protocol) =>
      (VERSIONS[protocol] ?? [VERSION]).map((version) => ({ name: wire(protocol, version), version })),
  };
}
