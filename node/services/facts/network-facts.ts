import Type, { type Static } from 'typebox';
import type { FactValues } from '../../../protocol/api/fact-values.ts';
import { ConsensusTimestampShape, CountShape, EntityIdShape, OrNull } from '../../../protocol/shapes.ts';
import { MirrorFormatError, reader } from '../../anchoring/ledger/mirror-shapes.ts';
import type { MirrorReading } from './mirror-reading.ts';
import type { FactReading } from './throughput.ts';

/** Nodes in a page: the most that a public mirror gives. */
const PAGE_NODES = 25;
/** No network has had more than 40. */
const MAX_NODE_PAGES = 12;
const MAX_NODES = PAGE_NODES * MAX_NODE_PAGES;
const MAX_FEES = 100;
const MAX_TEXT = 256;
const CENTS_PER_DOLLAR = 100;
/** Decimals of a rate in dollars. */
const RATE_DECIMALS = 8;

/** Of 64 bits: as a text where it is beyond the integers that a JSON number holds exactly. */
const LongShape = Type.Union([CountShape, Type.String({ pattern: '^[1-9]\\d{0,19}$' })]);
const RateShape = Type.Object({
  cent_equivalent: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  hbar_equivalent: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  expiration_time: CountShape,
});
const exchangeRates = reader(
  'exchange rates',
  Type.Object({ current_rate: RateShape, next_rate: RateShape, timestamp: ConsensusTimestampShape }),
);
const fees = reader(
  'fees',
  Type.Object({
    fees: Type.Array(
      Type.Object({ gas: CountShape, transaction_type: Type.String({ minLength: 1, maxLength: MAX_TEXT }) }),
      { maxItems: MAX_FEES },
    ),
    timestamp: ConsensusTimestampShape,
  }),
);
const TinybarsShape = Type.String({ pattern: '^(0|[1-9]\\d{0,19})$' });
const supply = reader(
  'supply',
  Type.Object({ released_supply: TinybarsShape, total_supply: TinybarsShape, timestamp: ConsensusTimestampShape }),
);
const NodeShape = Type.Object({
  node_id: CountShape,
  node_account_id: OrNull(EntityIdShape),
  description: OrNull(Type.String({ maxLength: MAX_TEXT })),
  stake: OrNull(LongShape),
});
const nodesPage = reader(
  'nodes',
  Type.Object({ links: Type.Object({ next: OrNull(Type.String()) }), nodes: Type.Array(NodeShape) }),
);

export async function readExchangeRate(mirror: MirrorReading): Promise<FactReading<FactValues['exchange-rate']>> {
  const { current_rate, next_rate, timestamp } = await mirror.read('/network/exchangerate', exchangeRates);
  const current = rateOf(current_rate);
  const usd = current.centEquivalent / current.hbarEquivalent / CENTS_PER_DOLLAR;
  return {
    value: { current, next: rateOf(next_rate), usdPerHbar: Number(usd.toFixed(RATE_DECIMALS)) },
    asOf: timestamp,
  };
}

export async function readGasFees(mirror: MirrorReading): Promise<FactReading<FactValues['gas-fees']>> {
  const { fees: listed, timestamp } = await mirror.read('/network/fees', fees);
  const prices = listed.map(({ gas, transaction_type: transactionType }) => ({ transactionType, gasTinybars: gas }));
  return { value: { fees: prices, timestamp }, asOf: timestamp };
}

export async function readSupply(mirror: MirrorReading): Promise<FactReading<FactValues['supply']>> {
  const found = await mirror.read('/network/supply', supply);
  const { total_supply: totalTinybars, released_supply: releasedTinybars, timestamp } = found;
  return { value: { totalTinybars, releasedTinybars, timestamp }, asOf: timestamp };
}

/** Pages by node id, never by a link of the mirror's. */
export async function readNodes(mirror: MirrorReading): Promise<FactReading<FactValues['nodes']>> {
  const asOf = await mirror.clock();
  const nodes: Static<typeof NodeShape>[] = [];
  for (let next = 0; ;) {
    const page = await mirror.read(`/network/nodes?limit=${PAGE_NODES}&order=asc&node.id=gte:${next}`, nodesPage);
    for (const node of page.nodes) {
      if (node.node_id < next) throw new MirrorFormatError('nodes: out of order');
      next = node.node_id + 1;
      nodes.push(node);
    }
    if (page.links.next === null || page.nodes.length === 0) break;
    if (nodes.length >= MAX_NODES) throw new MirrorFormatError(`nodes: more than ${MAX_NODES}`);
  }
  return { value: { count: nodes.length, nodes: nodes.map(nodeOf) }, asOf };
}

function nodeOf({ node_id, node_account_id, description, stake }: Static<typeof NodeShape>) {
  return {
    nodeId: node_id,
    accountId: node_account_id,
    description,
    stakeTinybars: stake === null ? null : String(stake),
  };
}

function rateOf({ cent_equivalent, hbar_equivalent, expiration_time }: Static<typeof RateShape>) {
  return { centEquivalent: cent_equivalent, hbarEquivalent: hbar_equivalent, expirationTime: expiration_time };
}
