import type { Order } from './mirror-view.ts';

export interface Page<T> {
  readonly rows: T[];
  /** The last row looked at, matching or not; the next page starts after it. Null when there is no next page. */
  readonly last: T | null;
}

/** Rows that one request may look at; a page of a narrow filter may come back short, with a link to go on. */
const MAX_ROWS_EXAMINED = 10_000;

/** Takes up to `limit` matching rows. */
export async function takePage<T>(
  source: AsyncIterable<T>,
  limit: number,
  matches: (row: T) => boolean = () => true,
): Promise<Page<T>> {
  const rows: T[] = [];
  let examined = 0;
  for await (const row of source) {
    if (matches(row)) rows.push(row);
    examined += 1;
    if (rows.length === limit || examined === MAX_ROWS_EXAMINED) return { rows, last: row };
  }
  return { rows, last: null };
}

/** Link to the page after `cursor`: the same request, its own lower (or upper) bound moved up to the cursor. */
export function nextLink(url: URL, name: string, cursor: string, order: Order, limit: number): string {
  const replaced = order === 'asc' ? /^gte?:/ : /^lte?:/;
  const query = new URLSearchParams();
  for (const [key, value] of url.searchParams) {
    if (key !== 'limit' && key !== 'order' && !(key === name && replaced.test(value))) query.append(key, value);
  }
  query.append('limit', String(limit));
  query.append('order', order);
  query.append(name, `${order === 'asc' ? 'gt' : 'lt'}:${cursor}`);
  return `${url.pathname}?${query.toString().replaceAll('%3A', ':')}`;
}
