// A process of the simulation: several whole members, as `node/main.ts` starts them, with one event loop.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { type NodeApp, startApp } from '../../node/app.ts';
import { configOf, type NodeConfig } from '../../node/config/config.ts';
import { type NodeContext, openContext } from '../../node/context.ts';
import { decisionDrafts, roundRobin } from '../bench/drafts.ts';
import { PeerTraffic } from './peer-traffic.ts';
import { parseQuestion, type Question, type State, type Tables } from './questions.ts';

const DRAFTS = 200;
/** Drafts given to intake at a time: as many callers as a busy node has. */
const IN_FLIGHT = 400;

interface Running {
  readonly config: NodeConfig;
  readonly context: NodeContext;
  readonly app: NodeApp;
}

const log = pino({ level: 'silent' });
const nextDraft = roundRobin(decisionDrafts(DRAFTS));
const members = new Map<string, Running>();
let traffic: PeerTraffic | undefined;

process.on('message', (message) => {
  answer(parseQuestion(message)).then(
    (value) => process.send?.(value),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());

async function answer(question: Question): Promise<State | Tables> {
  switch (question.ask) {
    case 'start':
      traffic = new PeerTraffic(question.peerPorts);
      await Promise.all(question.members.map((variables) => start(configOf(variables))));
      return state();
    case 'seal':
      await seal(memberOf(question.node).context, question.records);
      return state();
    case 'state':
      return state();
    case 'tables':
      return tablesOf(memberOf(question.node).context);
    case 'empty':
      await empty(memberOf(question.node));
      return state();
  }
}

async function start(config: NodeConfig): Promise<void> {
  const context = await openContext(config, log);
  members.set(config.id, { config, context, app: await startApp(context) });
}

async function seal({ intake, sealer }: NodeContext, records: number): Promise<void> {
  for (let left = records; left > 0; left -= IN_FLIGHT) {
    await Promise.all(Array.from({ length: Math.min(left, IN_FLIGHT) }, () => intake.submit(nextDraft())));
  }
  await sealer.seal();
}

async function empty({ config, context, app }: Running): Promise<void> {
  await app[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
  await rm(join(config.home, 'store'), { recursive: true });
  await start(config);
}

async function state(): Promise<State> {
  const anchoring = await Promise.all([...members.values()].map(({ context }) => context.anchoring.state()));
  const sum = (count: (context: NodeContext) => number) =>
    [...members.values()].reduce((total, { context }) => total + count(context), 0);
  const { user, system } = process.cpuUsage();
  return {
    connections: sum(({ transport }) => transport.peers().filter(({ connected }) => connected).length),
    batches: sum(({ chains }) => [...chains.all().values()].reduce((total, { batch }) => total + batch, 0)),
    vouched: sum(({ vouching }) => [...vouching.vouched().values()].reduce((total, batch) => total + batch, 0)),
    unconfirmed: anchoring.reduce((total, { backlog }) => total + backlog, 0),
    ...(traffic?.read() ?? { received: 0, sent: 0 }),
    cpu: user + system,
    memory: process.memoryUsage.rss(),
  };
}

async function tablesOf({ store }: NodeContext): Promise<Tables> {
  const tables = new Map<string, { rows: number; bytes: number }>();
  for await (const [key, value] of store.range({})) {
    const [name = ''] = key.split('/', 1);
    const table = tables.get(name) ?? { rows: 0, bytes: 0 };
    tables.set(name, { rows: table.rows + 1, bytes: table.bytes + key.length + value.length });
  }
  return [...tables].map(([table, { rows, bytes }]) => ({ table, rows, bytes }));
}

function memberOf(node: string): Running {
  const member = members.get(node);
  if (member === undefined) throw new RangeError(`${node} does not run here`);
  return member;
}
