import { proto } from '@hiero-ledger/proto';
import { parseTimeText, timeText } from './consensus-time.ts';
import type { Between, MirrorView } from './mirror-view.ts';
import { nextLink, takePage } from './rest-page.ts';
import { isSingle, limitOf, orderOf, rangeOf, requireKnown } from './rest-parameters.ts';
import { RestProblem, invalidParameter, notFound } from './rest-problem.ts';
import type { RestRoute } from './rest-route.ts';
import { transactionJson } from './rest-shapes.ts';
import type { TransactionRow } from './rows.ts';
import { TRANSACTION_NAMES, parseSignedTransaction } from './transaction.ts';
import { parseEntityText } from './wire.ts';

const TRANSACTION_ID = /^0\.0\.(\d{1,12})-(\d{1,10})-(\d{1,9})$/;
const ID_FORMAT =
  'Invalid Transaction id. Please use "shard.realm.num-sss-nnn" format where sss are seconds and nnn are nanoseconds';

/** `/transactions…` of the mirror REST API. */
export function transactionRoutes(view: MirrorView): RestRoute[] {
  return [
    { pattern: /^\/transactions$/, answer: (url) => transactionsPage(view, url) },
    {
      pattern: /^\/transactions\/([^/]+)$/,
      answer: async (url, [text = '']) => {
        requireKnown(url.searchParams, ['nonce', 'scheduled']);
        const row = await view.transaction(requireTransactionId(text));
        if (!row) throw notFound();
        return { transactions: [transactionJson(row)] };
      },
    },
  ];
}

async function transactionsPage(view: MirrorView, url: URL): Promise<object> {
  const query = url.searchParams;
  requireKnown(query, ['account.id', 'limit', 'order', 'result', 'timestamp', 'transactiontype']);
  const order = orderOf(query, 'desc');
  const limit = limitOf(query);
  const times = rangeOf(query, 'timestamp', parseTimeText);
  const { rows, last } = await takePage(view.transactions(times, order), limit, filterOf(query));
  const isComplete = last === null || isSingle(times);
  return {
    links: { next: isComplete ? null : nextLink(url, 'timestamp', timeText(last.at), order, limit) },
    transactions: rows.map(transactionJson),
  };
}

function filterOf(query: URLSearchParams): (row: TransactionRow) => boolean {
  const accounts = rangeOf(query, 'account.id', parseEntityText);
  const type = query.get('transactiontype')?.toUpperCase() ?? null;
  if (type !== null && !Object.values(TRANSACTION_NAMES).includes(type)) throw invalidParameter('transactiontype');
  const result = query.get('result');
  if (result !== null && result !== 'success' && result !== 'fail') throw invalidParameter('result');
  return (row) =>
    (!query.has('account.id') || row.transfers.some(({ account }) => contains(accounts, account))) &&
    (result === null || (result === 'success') === (row.status === proto.ResponseCodeEnum.SUCCESS)) &&
    (type === null || TRANSACTION_NAMES[parseSignedTransaction(row.signed).operation.kind] === type);
}

function contains({ from, to }: Between, value: bigint): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to);
}

function requireTransactionId(text: string): string {
  const match = TRANSACTION_ID.exec(text);
  if (!match) throw new RestProblem(400, ID_FORMAT);
  const [, payer, seconds, nanos = ''] = match;
  return `0.0.${payer}@${seconds}.${nanos.padStart(9, '0')}`;
}
