import { parseTimeText, timeText } from './consensus-time.ts';
import { exchangeRates } from './exchange-rates.ts';
import type { ExchangeRate } from './exchange-rates.ts';
import type { MirrorView } from './mirror-view.ts';
import { LEDGER_DESCRIPTION } from './network-name.ts';
import type { NetworkNode } from './network-name.ts';
import { nextLink, takePage } from './rest-page.ts';
import { limitOf, orderOf, parseNumber, rangeOf, requireEntity, requireKnown } from './rest-parameters.ts';
import { invalidParameter, notFound } from './rest-problem.ts';
import type { RestRoute } from './rest-route.ts';
import { accountJson, blockJson } from './rest-shapes.ts';
import type { BlockRow } from './rows.ts';
import { entityText } from './wire.ts';

const TOTAL_SUPPLY_TINYBARS = '5000000000000000000';
/** Gas prices in tinybars; there are no contracts here, the API has the member all the same. */
const GAS_FEES = [
  { gas: 853_000, transaction_type: 'ContractCall' },
  { gas: 990_000, transaction_type: 'ContractCreate' },
  { gas: 853_000, transaction_type: 'EthereumTransaction' },
];

/** `/blocks`, `/accounts` and `/network` of the mirror REST API. */
export function networkRoutes(view: MirrorView, nodes: readonly NetworkNode[]): RestRoute[] {
  return [
    { pattern: /^\/blocks$/, answer: (url) => blocksPage(view, url) },
    {
      pattern: /^\/blocks\/([^/]+)$/,
      answer: async (_url, [text = '']) => {
        const number = parseNumber(text);
        if (number === null) throw invalidParameter('hashOrNumber');
        for await (const block of view.blocks({ from: number, to: number }, 'asc')) return blockJson(block);
        throw notFound();
      },
    },
    {
      pattern: /^\/accounts\/([^/]+)$/,
      answer: (_url, [id = '']) => {
        const account = view.ledger.state.accounts.get(requireEntity(id, 'idOrAliasOrEvmAddress'));
        if (!account) throw notFound();
        return accountJson(account, view.horizon);
      },
    },
    { pattern: /^\/network\/exchangerate$/, answer: () => exchangeRateJson(view) },
    { pattern: /^\/network\/fees$/, answer: () => ({ fees: GAS_FEES, timestamp: timeText(view.horizon) }) },
    {
      pattern: /^\/network\/supply$/,
      answer: () => ({
        released_supply: TOTAL_SUPPLY_TINYBARS,
        timestamp: timeText(view.horizon),
        total_supply: TOTAL_SUPPLY_TINYBARS,
      }),
    },
    {
      pattern: /^\/network\/nodes$/,
      answer: (url) => ({ links: { next: null }, nodes: nodes.slice(0, limitOf(url.searchParams)).map(nodeJson) }),
    },
  ];
}

async function blocksPage(view: MirrorView, url: URL): Promise<object> {
  const query = url.searchParams;
  requireKnown(query, ['block.number', 'limit', 'order', 'timestamp']);
  const order = orderOf(query, 'desc');
  const limit = limitOf(query);
  const numbers = rangeOf(query, 'block.number', parseNumber);
  const times = rangeOf(query, 'timestamp', parseTimeText);
  const matches = (block: BlockRow): boolean =>
    (times.from === undefined || block.to >= times.from) && (times.to === undefined || block.from <= times.to);
  const { rows, last } = await takePage(view.blocks(numbers, order), limit, matches);
  const next = last === null ? null : nextLink(url, 'block.number', String(last.number), order, limit);
  return { blocks: rows.map(blockJson), links: { next } };
}

function exchangeRateJson(view: MirrorView): object {
  const { current, next } = exchangeRates(view.ledger.fees, view.horizon);
  return { current_rate: rateJson(current), next_rate: rateJson(next), timestamp: timeText(view.horizon) };
}

function rateJson({ hbars, cents, expires }: ExchangeRate): object {
  return { cent_equivalent: cents, expiration_time: Number(expires), hbar_equivalent: hbars };
}

function nodeJson({ account, host, port }: NetworkNode, index: number): object {
  return {
    admin_key: null,
    decline_reward: false,
    description: LEDGER_DESCRIPTION,
    file_id: '0.0.102',
    grpc_proxy_endpoint: null,
    max_stake: 0,
    memo: entityText(account),
    min_stake: 0,
    node_account_id: entityText(account),
    node_cert_hash: null,
    node_id: index,
    public_key: null,
    reward_rate_start: 0,
    service_endpoints: [{ domain_name: '', ip_address_v4: host, port }],
    stake: 0,
    stake_not_rewarded: 0,
    stake_rewarded: 0,
    staking_period: null,
    timestamp: { from: '0.000000000', to: null },
  };
}
