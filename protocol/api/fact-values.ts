import Type, { type Static } from 'typebox';
import { Closed, ConsensusTimestampShape, CountShape, EntityIdShape, OrNull, Sha384Shape } from '../shapes.ts';
import type { Fact } from '../statement/vocabulary.ts';
import { EXAMPLE_CONSENSUS, EXAMPLE_TOPIC } from './example-ids.ts';

/** Window that throughput is counted over. In seconds. */
export const THROUGHPUT_WINDOW_SECONDS = 60;

/** Amounts go beyond the integers that every JSON reader holds exactly, so they are texts. */
const TinybarsShape = Type.String({ pattern: '^(0|[1-9]\\d{0,19})$', description: 'In tinybars.' });

/** `hbarEquivalent` hbars are worth `centEquivalent` US cents until `expirationTime`, in seconds since the epoch. */
const RateShape = Closed(
  { centEquivalent: CountShape, hbarEquivalent: CountShape, expirationTime: CountShape },
  { title: 'ExchangeRate' },
);

/** What a snapshot of each fact says (api-rules §4.1). Times are the ledger's own, `seconds.nanoseconds`. */
export const FACT_VALUE_SHAPES = {
  'exchange-rate': Closed(
    {
      current: RateShape,
      next: RateShape,
      usdPerHbar: Type.Number({ minimum: 0, description: 'The current rate, in dollars.' }),
    },
    { title: 'ExchangeRateFact' },
  ),
  'gas-fees': Closed(
    {
      fees: Type.Array(Closed({ transactionType: Type.String(), gasTinybars: CountShape })),
      timestamp: ConsensusTimestampShape,
    },
    { title: 'GasFeesFact' },
  ),
  supply: Closed(
    {
      totalTinybars: TinybarsShape,
      releasedTinybars: TinybarsShape,
      timestamp: ConsensusTimestampShape,
    },
    { title: 'SupplyFact' },
  ),
  nodes: Closed(
    {
      count: CountShape,
      nodes: Type.Array(
        Closed({
          nodeId: CountShape,
          accountId: OrNull(EntityIdShape),
          description: OrNull(Type.String()),
          stakeTinybars: OrNull(TinybarsShape),
        }),
      ),
    },
    { title: 'NodesFact' },
  ),
  throughput: Closed(
    {
      windowSeconds: Type.Literal(THROUGHPUT_WINDOW_SECONDS),
      transactionCount: CountShape,
      tps: Type.Number({ minimum: 0, description: 'Transactions a second between `from` and `to`.' }),
      from: ConsensusTimestampShape,
      to: ConsensusTimestampShape,
      truncated: Type.Boolean({
        description: 'The mirror was not read back to the beginning of the window: `from` is.',
      }),
    },
    { title: 'ThroughputFact' },
  ),
  'topic-state': Closed(
    {
      topicId: EntityIdShape,
      sequenceNumber: CountShape,
      runningHash: Sha384Shape,
      consensusTimestamp: OrNull(ConsensusTimestampShape),
    },
    { title: 'TopicStateFact' },
  ),
} as const;

export type FactValues = { readonly [Name in Fact]: Static<(typeof FACT_VALUE_SHAPES)[Name]> };

const EXAMPLE_RATE = { centEquivalent: 600_000, hbarEquivalent: 30_000, expirationTime: 1_795_255_200 };

export const FACT_VALUE_EXAMPLES = {
  'exchange-rate': {
    current: EXAMPLE_RATE,
    next: { ...EXAMPLE_RATE, expirationTime: 1_795_258_800 },
    usdPerHbar: 0.2,
  },
  'gas-fees': {
    fees: [{ transactionType: 'ContractCall', gasTinybars: 42 }],
    timestamp: EXAMPLE_CONSENSUS.timestamp,
  },
  supply: {
    totalTinybars: '5000000000000000000',
    releasedTinybars: '4353231960810178466',
    timestamp: EXAMPLE_CONSENSUS.timestamp,
  },
  nodes: {
    count: 1,
    nodes: [{ nodeId: 0, accountId: '0.0.3', description: 'Hosted by LG', stakeTinybars: '106500000000000000' }],
  },
  throughput: {
    windowSeconds: THROUGHPUT_WINDOW_SECONDS,
    transactionCount: 8_415,
    tps: 141.904,
    from: '1795253352.104817003',
    to: EXAMPLE_CONSENSUS.timestamp,
    truncated: false,
  },
  'topic-state': {
    topicId: EXAMPLE_TOPIC,
    sequenceNumber: 8812,
    runningHash: `sha384:${'4'.repeat(96)}`,
    consensusTimestamp: EXAMPLE_CONSENSUS.timestamp,
  },
} as const;
