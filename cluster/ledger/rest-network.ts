import { parseTimeText, timeText } from './consensus-time.ts';
import { exchangeRates } from './exchange-rates.ts';
import type { ExchangeRate } from './exchange-rates.ts';
import { toTinybars } from './fees.ts';
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

/** Nodes in a page: the most that a public mirror gives. */
const MAX_NODES = 25;
/** Kinds of transaction that burn gas. There are none here; a mirror lists their price all the same. */
const GAS_TRANSACTIONS = ['ContractCall', 'ContractCreate', 'EthereumTransaction'];

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
    { pattern: /^\/network\/fees$/, answer: () => feesJson(view) },
    { pattern: /^\/network\/supply$/, answer: () => supplyJson(view) },
    { pattern: /^\/network\/nodes$/, answer: (url) => nodesPage(nodes, url) },
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

/** Prices of gas by this ledger's schedule and rate, as a mirror lists them. */
function feesJson({ ledger, horizon }: MirrorView): object {
  const gas = Number(toTinybars(ledger.fees, ledger.fees.gas));
  return { fees: GAS_TRANSACTIONS.map((type) => ({ gas, transaction_type: type })), timestamp: timeText(horizon) };
}

/**
 * Hbars are neither made nor destroyed here: all there are is what the accounts hold, and all of it is in their hands.
 */
function supplyJson({ ledger, horizon }: MirrorView): object {
  const total = [...ledger.state.accounts.values()].reduce((sum, { balance }) => sum + balance, 0n);
  return { released_supply: String(total), timestamp: timeText(horizon), total_supply: String(total) };
}

function nodesPage(nodes: readonly NetworkNode[], url: URL): object {
  const query = url.searchParams;
  requireKnown(query, ['limit', 'node.id', 'order']);
  const order = orderOf(query, 'asc');
  const limit = Math.min(limitOf(query), MAX_NODES);
  const { from = 0n, to = BigInt(nodes.length) } = rangeOf(query, 'node.id', parseNumber);
  const all = nodes.map((node, id) => ({ node, id })).filter(({ id }) => BigInt(id) >= from && BigInt(id) <= to);
  const ordered = order === 'asc' ? all : all.toReversed();
  const shown = ordered.slice(0, limit);
  const last = shown.at(-1);
  const isComplete = last === undefined || shown.length === ordered.length;
  return {
    links: { next: isComplete ? null : nextLink(url, 'node.id', String(last.id), order, limit) },
    nodes: shown.map(({ node, id }) => nodeJson(node, id)),
  };
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
