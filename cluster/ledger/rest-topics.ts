import { parseTimeText, timeText } from './consensus-time.ts';
import type { MirrorView } from './mirror-view.ts';
import { nextLink, takePage } from './rest-page.ts';
import {
  isSingle,
  limitOf,
  orderOf,
  parseNumber,
  rangeOf,
  requireEntity,
  requireKnown,
  requireTime,
} from './rest-parameters.ts';
import { invalidParameter, notFound } from './rest-problem.ts';
import type { RestRoute } from './rest-route.ts';
import { messageJson, topicJson } from './rest-shapes.ts';
import type { MessageRow, TopicRow } from './rows.ts';

/** `/topics/…` of the mirror REST API. */
export function topicRoutes(view: MirrorView): RestRoute[] {
  return [
    {
      pattern: /^\/topics\/messages\/([^/]+)$/,
      answer: async (url, [time = '']) => one(url, await view.messageAt(requireTime(time))),
    },
    {
      pattern: /^\/topics\/([^/]+)\/messages$/,
      answer: (url, [id = '']) => messagesPage(view, url, requireTopic(view, id).num),
    },
    {
      pattern: /^\/topics\/([^/]+)\/messages\/([^/]+)$/,
      answer: async (url, [id = '', sequence = '']) => {
        const number = parseNumber(sequence);
        if (number === null || number === 0n) throw invalidParameter('sequencenumber');
        return one(url, await view.message(requireTopic(view, id).num, number));
      },
    },
    { pattern: /^\/topics\/([^/]+)$/, answer: (_url, [id = '']) => topicJson(requireTopic(view, id)) },
  ];
}

async function messagesPage(view: MirrorView, url: URL, topic: bigint): Promise<object> {
  const query = url.searchParams;
  requireKnown(query, ['encoding', 'limit', 'order', 'sequencenumber', 'timestamp']);
  const order = orderOf(query, 'asc');
  const limit = limitOf(query);
  const sequences = rangeOf(query, 'sequencenumber', parseNumber);
  const times = rangeOf(query, 'timestamp', parseTimeText);
  const { rows, last } = await takePage(view.messages(topic, sequences, times, order), limit);
  const isComplete = last === null || isSingle(sequences) || isSingle(times);
  return {
    links: { next: isComplete ? null : pageAfter(url, last, limit) },
    messages: rows.map((row) => messageJson(row, isText(url))),
  };
}

/** Continues by the parameter that the client filters by. */
function pageAfter(url: URL, { sequence, at }: MessageRow, limit: number): string {
  const order = orderOf(url.searchParams, 'asc');
  if (url.searchParams.has('sequencenumber')) return nextLink(url, 'sequencenumber', String(sequence), order, limit);
  return nextLink(url, 'timestamp', timeText(at), order, limit);
}

function one(url: URL, row: MessageRow | undefined): object {
  requireKnown(url.searchParams, ['encoding']);
  if (!row) throw notFound();
  return messageJson(row, isText(url));
}

function isText(url: URL): boolean {
  const encoding = url.searchParams.get('encoding') ?? 'base64';
  if (!/^(?:base64|utf-?8)$/i.test(encoding)) throw invalidParameter('encoding');
  return encoding.toLowerCase() !== 'base64';
}

function requireTopic(view: MirrorView, id: string): Readonly<TopicRow> {
  const topic = view.topic(requireEntity(id, 'topicId'));
  if (!topic) throw notFound();
  return topic;
}
