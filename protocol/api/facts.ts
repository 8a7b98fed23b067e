import Type, { type Static, type TSchema } from 'typebox';
import { SERVICES } from '../payments/prices.ts';
import { Base64urlShape, Closed, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { type Fact, FACTS } from '../statement/vocabulary.ts';
import { EXAMPLE_CONSENSUS, EXAMPLE_HASH, EXAMPLE_IDS } from './example-ids.ts';
import { FACT_VALUE_EXAMPLES, FACT_VALUE_SHAPES } from './fact-values.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';

const NetworkShape = Type.String({ description: 'The ledger that it is about: a public network, or a private one.' });
/** ISO 8601 duration. */
const WindowShape = OrNull(Type.String({ pattern: '^PT[1-9][0-9]*S$' }));
const PriceShape = Type.String({ pattern: '^[0-9]+\\.[0-9]+$' });

/** `GET /v1/x402/hedera-facts`: what can be had, and for how much. */
export const FactsMenuShape = Closed({
  network: NetworkShape,
  facts: Type.Array(
    Closed({
      fact: Type.Enum([...FACTS]),
      path: Type.String(),
      priceUsd: PriceShape,
      description: Type.String(),
      window: WindowShape,
      source: Closed({ type: Type.Literal('mirror-node'), endpoint: Type.String() }, { title: 'FactSource' }),
      maxAgeSeconds: Type.Integer({ minimum: 1 }),
    }),
  ),
  bundle: Closed({ path: Type.String(), priceUsd: PriceShape }),
});

/** A fact as a mirror node told it. All of it but the salt is the payload of its record. */
function snapshotOf<Value extends TSchema>(fact: TSchema, value: Value) {
  return {
    fact,
    network: NetworkShape,
    value,
    observedAt: TimestampShape,
    window: WindowShape,
    source: Closed({ type: Type.Literal('mirror-node'), endpoint: Type.String(), asOf: TimestampShape }),
    rawHash: Sha256Shape,
    salt: Base64urlShape,
  };
}

/** `GET /v1/x402/hedera-facts/:fact`. */
export const FactShape = PaidShape(
  snapshotOf(Type.Enum([...FACTS]), Type.Union(FACTS.map((fact) => FACT_VALUE_SHAPES[fact]))),
);

function Attested<Name extends Fact>(fact: Name) {
  return Closed({ ...snapshotOf(Type.Literal(fact), FACT_VALUE_SHAPES[fact]), attestationId: RecordIdShape });
}

/**
 * `GET /v1/x402/hedera-facts/all`: `attestation` is that of the first fact; all six are recorded and anchored together.
 */
export const AllFactsShape = PaidShape({
  facts: Closed({
    'exchange-rate': Attested('exchange-rate'),
    'gas-fees': Attested('gas-fees'),
    supply: Attested('supply'),
    nodes: Attested('nodes'),
    throughput: Attested('throughput'),
    'topic-state': Attested('topic-state'),
  }),
  attestationIds: Closed({
    'exchange-rate': RecordIdShape,
    'gas-fees': RecordIdShape,
    supply: RecordIdShape,
    nodes: RecordIdShape,
    throughput: RecordIdShape,
    'topic-state': RecordIdShape,
  }),
});

export type FactsMenu = Static<typeof FactsMenuShape>;

function snapshotExample<Name extends Fact>(fact: Name, endpoint: string) {
  return {
    fact,
    network: 'mainnet',
    value: FACT_VALUE_EXAMPLES[fact],
    observedAt: '2026-11-21T09:30:12.000Z',
    window: fact === 'throughput' ? 'PT60S' : null,
    source: {
      type: 'mirror-node',
      endpoint: `https://mainnet.mirrornode.hedera.com/api/v1${endpoint}`,
      asOf: EXAMPLE_CONSENSUS.time,
    },
    rawHash: EXAMPLE_HASH,
    salt: 'A'.repeat(43),
  } as const;
}

export const FACT_EXAMPLE = {
  success: true,
  ...snapshotExample('exchange-rate', '/network/exchangerate'),
  ...paidTailExample(SERVICES['hedera-fact'].usd),
};

const EXAMPLE_ID = EXAMPLE_IDS.decision;

export const ALL_FACTS_EXAMPLE = {
  success: true,
  facts: {
    'exchange-rate': { ...snapshotExample('exchange-rate', '/network/exchangerate'), attestationId: EXAMPLE_ID },
    'gas-fees': { ...snapshotExample('gas-fees', '/network/fees'), attestationId: EXAMPLE_ID },
    supply: { ...snapshotExample('supply', '/network/supply'), attestationId: EXAMPLE_ID },
    nodes: { ...snapshotExample('nodes', '/network/nodes'), attestationId: EXAMPLE_ID },
    throughput: { ...snapshotExample('throughput', '/blocks'), attestationId: EXAMPLE_ID },
    'topic-state': { ...snapshotExample('topic-state', '/topics/0.0.5005/messages'), attestationId: EXAMPLE_ID },
  },
  attestationIds: {
    'exchange-rate': EXAMPLE_ID,
    'gas-fees': EXAMPLE_ID,
    supply: EXAMPLE_ID,
    nodes: EXAMPLE_ID,
    throughput: EXAMPLE_ID,
    'topic-state': EXAMPLE_ID,
  },
  ...paidTailExample(SERVICES['hedera-facts-all'].usd),
};

export const FACTS_MENU_EXAMPLE = {
  network: 'mainnet',
  facts: [
    {
      fact: 'exchange-rate',
      path: '/v1/x402/hedera-facts/exchange-rate',
      priceUsd: SERVICES['hedera-fact'].usd,
      description: 'What an hbar is worth in US cents, now and from the next hour on.',
      window: null,
      source: { type: 'mirror-node', endpoint: '/network/exchangerate' },
      maxAgeSeconds: 60,
    },
  ],
  bundle: { path: SERVICES['hedera-facts-all'].path, priceUsd: SERVICES['hedera-facts-all'].usd },
} as const;
