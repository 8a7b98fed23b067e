import type { IncomingMessage } from 'node:http';
import { timeText } from './consensus-time.ts';
import type { MirrorView } from './mirror-view.ts';
import { LEDGER_NAME } from './network-name.ts';
import { RestProblem, notFound } from './rest-problem.ts';

const LOOPBACK_ADDRESSES = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const MAX_BODY_BYTES = 4_096;

/**
 * What this ledger has and a mirror node has not: `GET /local/stats`, `GET /local/faults`, and `POST /local/faults`
 * with a JSON object of the faults to change. From loopback only, and only as `application/json`, which a page in a
 * browser cannot send to another origin unasked.
 */
export async function answerLocal(view: MirrorView, path: string, request: IncomingMessage): Promise<object> {
  if (!LOOPBACK_ADDRESSES.has(request.socket.remoteAddress ?? '')) throw new RestProblem(403, 'Loopback only');
  if (path === '/local/stats' && request.method === 'GET') return statsJson(view);
  if (path !== '/local/faults') throw notFound();
  const { faults } = view.ledger;
  if (request.method === 'GET') return faults.now;
  if (request.method !== 'POST') throw new RestProblem(405, 'Method not allowed');
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    throw new RestProblem(415, 'Content-Type must be application/json');
  }
  const body = await bodyOf(request);
  try {
    return faults.set(JSON.parse(body));
  } catch (error) {
    throw new RestProblem(400, error instanceof Error ? error.message : 'Invalid faults');
  }
}

function statsJson({ ledger, horizon }: MirrorView): object {
  const { stats, accepted, state } = ledger;
  return {
    network: LEDGER_NAME,
    ...stats,
    waiting: accepted.waiting,
    rememberedIds: accepted.remembered,
    accounts: state.accounts.size,
    topics: state.topics.size,
    transactions: state.head.transactions,
    blocks: state.head.blocks,
    mirrorClock: timeText(horizon),
    rssBytes: process.memoryUsage.rss(),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new RestProblem(413, 'Body too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
