import { type FactValues, THROUGHPUT_WINDOW_SECONDS } from '../../../protocol/api/fact-values.ts';
import { writeSha384 } from '../../../protocol/hash.ts';
import type { EntityId } from '../../../protocol/ids.ts';
import type { Fact } from '../../../protocol/statement/vocabulary.ts';
import { readMessages } from '../../anchoring/ledger/mirror-shapes.ts';
import { INITIAL_HEAD } from '../../anchoring/topic/topic-links.ts';
import type { MirrorReading } from './mirror-reading.ts';
import { readExchangeRate, readGasFees, readNodes, readSupply } from './network-facts.ts';
import { type FactReading, readThroughput } from './throughput.ts';

/** One fact: what it is, where it stands, how long one reading of it serves. */
export interface FactEntry<Name extends Fact = Fact> {
  /** One sentence for anyone who decides whether to pay. */
  readonly description: string;
  /** ISO 8601 duration that it is counted over; null for a state. */
  readonly window: string | null;
  /** Of the resource that it is read from, below `/api/v1`. */
  readonly path: string;
  /** Time for which a reading is given again. In seconds. */
  readonly maxAgeSeconds: number;
  readonly read: (mirror: MirrorReading) => Promise<FactReading<FactValues[Name]>>;
}

export type FactCatalogue = { readonly [Name in Fact]: FactEntry<Name> };

// A rate holds for an hour, fees and nodes for days; supply is a figure of the last quarter of an hour.
const RATE_SECONDS = 60;
const FEES_SECONDS = 300;
const SUPPLY_SECONDS = 60;
const NODES_SECONDS = 300;
const THROUGHPUT_SECONDS = 10;
const TOPIC_SECONDS = 5;

/** The facts of the ledger that a federation anchors on. */
export function factCatalogue(topicId: EntityId): FactCatalogue {
  return {
    'exchange-rate': {
      description: 'What an hbar is worth in US cents, now and from the next hour on.',
      window: null,
      path: '/network/exchangerate',
      maxAgeSeconds: RATE_SECONDS,
      read: readExchangeRate,
    },
    'gas-fees': {
      description: 'The price of a unit of gas for each kind of transaction that burns it.',
      window: null,
      path: '/network/fees',
      maxAgeSeconds: FEES_SECONDS,
      read: readGasFees,
    },
    supply: {
      description: 'Hbars that there are, and those of them that were released.',
      window: null,
      path: '/network/supply',
      maxAgeSeconds: SUPPLY_SECONDS,
      read: readSupply,
    },
    nodes: {
      description: 'The consensus nodes of the network and the stake of each.',
      window: null,
      path: '/network/nodes',
      maxAgeSeconds: NODES_SECONDS,
      read: readNodes,
    },
    throughput: {
      description: 'Transactions that reached consensus in the last minute, counted by block.',
      window: `PT${THROUGHPUT_WINDOW_SECONDS}S`,
      path: '/blocks',
      maxAgeSeconds: THROUGHPUT_SECONDS,
      read: readThroughput,
    },
    'topic-state': {
      description: 'The last message of the topic that the federation anchors on: number, running hash, time.',
      window: null,
      path: `/topics/${topicId}/messages`,
      maxAgeSeconds: TOPIC_SECONDS,
      read: (mirror) => readTopicState(mirror, topicId),
    },
  };
}

/** The last message of the federation's topic. */
async function readTopicState(
  mirror: MirrorReading,
  topicId: EntityId,
): Promise<FactReading<FactValues['topic-state']>> {
  const asOf = await mirror.clock();
  const path = `/topics/${topicId}/messages?limit=1&order=desc`;
  const [last] = await mirror.read(path, (body) => readMessages(body, topicId));
  const { sequence, runningHash, consensusTimestamp } =
    last === undefined ? INITIAL_HEAD : { ...last, runningHash: writeSha384(last.runningHash) };
  return { value: { topicId, sequenceNumber: sequence, runningHash, consensusTimestamp }, asOf };
}
