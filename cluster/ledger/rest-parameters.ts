import { parseTimeText } from './consensus-time.ts';
import type { Between, Order } from './mirror-view.ts';
import { RestProblem, invalidParameter } from './rest-problem.ts';
import { parseEntityText } from './wire.ts';

type Operator = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

const FILTER = /^(?:(eq|gt|gte|lt|lte):)?(.+)$/;

const RANGES: Record<Operator, (value: bigint) => Between> = {
  eq: (value) => ({ from: value, to: value }),
  gt: (value) => ({ from: value + 1n }),
  gte: (value) => ({ from: value }),
  lt: (value) => ({ to: value - 1n }),
  lte: (value) => ({ to: value }),
};

/** Throws a 400 for a parameter that the route does not know: an ignored filter would be a wrong answer. */
export function requireKnown(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) throw new RestProblem(400, `Unknown query parameter: ${name}`);
  }
}

/** The range that all filters of one name leave, such as `timestamp=gte:1&timestamp=lt:2`. */
export function rangeOf(query: URLSearchParams, name: string, parse: (text: string) => bigint | null): Between {
  return query
    .getAll(name)
    .map((text) => filterOf(text, name, parse))
    .reduce(intersection, {});
}

export function isSingle({ from, to }: Between): boolean {
  return from !== undefined && from === to;
}

export function limitOf(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalidParameter('limit');
  return Math.min(Number(text), MAX_LIMIT);
}

export function orderOf(query: URLSearchParams, otherwise: Order): Order {
  const text = (query.get('order') ?? otherwise).toLowerCase();
  if (text !== 'asc' && text !== 'desc') throw invalidParameter('order');
  return text;
}

export function parseNumber(text: string): bigint | null {
  return /^\d{1,19}$/.test(text) ? BigInt(text) : null;
}

export function requireEntity(text: string, name: string): bigint {
  const num = parseEntityText(text);
  if (num === null) throw invalidParameter(name);
  return num;
}

export function requireTime(text: string): bigint {
  const time = parseTimeText(text);
  if (time === null) throw invalidParameter('timestamp');
  return time;
}

function filterOf(text: string, name: string, parse: (text: string) => bigint | null): Between {
  const match = FILTER.exec(text);
  const value = parse(match?.[2] ?? '');
  if (value === null) throw invalidParameter(name);
  return RANGES[operatorOf(match?.[1])](value);
}

function operatorOf(text = 'eq'): Operator {
  return text === 'gt' || text === 'gte' || text === 'lt' || text === 'lte' ? text : 'eq';
}

function intersection(a: Between, b: Between): Between {
  const from = a.from === undefined || (b.from !== undefined && b.from > a.from) ? b.from : a.from;
  const to = a.to === undefined || (b.to !== undefined && b.to < a.to) ? b.to : a.to;
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}
