import { type ClusterClient, member } from '../federation/cluster-client.ts';
import { decisionBodies } from '../decisions.ts';
import { processorTime } from '../processor-time.ts';
import { percentile } from '../statistics.ts';
import type { Sample } from './fill-forms.ts';

const LIST_LIMIT = 50;
const BODIES = 100;

/** What answers took. */
export interface AnswerTimes {
  /** Milliseconds from a request to the end of its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time of an answer, of all threads of the node, in microseconds. */
  readonly all: number;
  readonly perSecond: number;
}

/** How often is asked, after requests that are not counted, and over how many connections. */
export interface Asking {
  readonly warmUp: number;
  readonly times: number;
  /** Each with one request under way. Default: 1. */
  readonly connections?: number;
}

/** What is asked of a node. */
export interface Question {
  readonly name: string;
  /** Throws where the answer is not that of a whole, confirmed record. */
  readonly ask: (client: ClusterClient, baseUrl: string, about: Sample) => Promise<void>;
}

const bodies = decisionBodies(BODIES);
let nextBody = 0;

export const VERIFY: Question = {
  name: 'verify',
  async ask(client, baseUrl, { id }) {
    require(id, member(await client.get(`${baseUrl}/v1/verify/${id}`), 'verified') === true);
  },
};

export const QUESTIONS: readonly Question[] = [
  {
    // Its answer costs the same at any size: what its figures change by is the machine's doing.
    name: 'usage',
    async ask(client, baseUrl) {
      await client.get(`${baseUrl}/v1/usage`);
    },
  },
  {
    name: 'status',
    async ask(client, baseUrl, { id }) {
      require(id, member(await client.get(`${baseUrl}/v1/status/${id}`), 'status') === 'confirmed');
    },
  },
  VERIFY,
  {
    name: `list of ${LIST_LIMIT}`,
    async ask(client, baseUrl, { id, sourceId, submittedAt }) {
      const query = new URLSearchParams({ sourceId, from: submittedAt, limit: String(LIST_LIMIT) });
      const items = member(await client.get(`${baseUrl}/v1/attestations?${query}`), 'items');
      require(id, Array.isArray(items) && items.length > 0);
    },
  },
  {
    name: 'attest',
    async ask(client, baseUrl) {
      await client.attest(baseUrl, bodies[nextBody++ % BODIES] ?? {});
    },
  },
];

/** Asks the process `pid`, each time about a record that `pick` gives. */
export async function timesOf(
  pid: number,
  ask: (about: Sample) => Promise<void>,
  pick: () => Sample,
  { warmUp, times, connections = 1 }: Asking,
  signal: AbortSignal,
): Promise<AnswerTimes> {
  for (let i = 0; i < warmUp; i++) await ask(pick());
  const found: number[] = [];
  let begun = 0;
  const connection = async (): Promise<void> => {
    while (begun++ < times) {
      signal.throwIfAborted();
      const about = pick();
      const asked = performance.now();
      await ask(about);
      found.push(performance.now() - asked);
    }
  };
  const before = await processorTime(pid);
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  const milliseconds = performance.now() - started;
  const after = await processorTime(pid);
  return {
    p50: percentile(found, 0.5),
    p99: percentile(found, 0.99),
    all: (after.all - before.all) / times,
    perSecond: (times * 1000) / milliseconds,
  };
}

function require(id: string, holds: boolean): void {
  if (!holds) throw new Error(`${id} is not answered for as a confirmed record`);
}
