import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isJsonObject } from '../../protocol/json/value.ts';
import { ApiDocument } from '../fixtures/api-document.ts';
import { SchemaJudge } from '../fixtures/schema-judge.ts';
import type { TestNode } from '../fixtures/test-node.ts';
import { LiveWorld } from '../node/http/openapi/live-world.ts';
import { brokenBody, largeBody, slowBody, spoiltBody } from './body-attacks.ts';
import { GoodCaller } from './good-caller.ts';
import { brokenHead, oddHeader, smuggled } from './head-attacks.ts';
import { type HostileRequest, type Sound, soundHeaders, wire } from './hostile-request.ts';
import { outcomeFault, recordsMade } from './judge-outcome.ts';
import { Random } from './random.ts';
import { RawConnection } from './raw-connection.ts';
import { oddPath, oddQuery } from './target-attacks.ts';

export interface AttackOptions {
  readonly requests: number;
  readonly seed: number;
  /** Keys of two accounts: one without limits that attacks, one that behaves. */
  readonly keys: { readonly hostile: string; readonly good: string };
}

export interface AttackReport {
  readonly seconds: number;
  /** Answers by status and code; `closed` where there was none. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** What went wrong, each with the request. */
  readonly faults: readonly string[];
  readonly good: GoodCaller;
  /** Bytes in use after a collection, half-way and at the end. */
  readonly heap: { readonly half: number; readonly end: number };
  /** Of the event loop, which serves the attackers too. In milliseconds. */
  readonly lag: { readonly p99: number; readonly max: number };
  /** Records that the node made meanwhile, and those that callers were told of. */
  readonly records: { readonly made: number; readonly told: number };
}

type Tools = Parameters<typeof spoiltBody>[1] & Parameters<typeof oddQuery>[1];
type Attack = (sound: Sound, tools: Tools) => HostileRequest;

const LANES = 8;
/** Connections that begin a request and never end it, for as long as the attack goes on. */
const STALLED = 20;
const MAX_FAULTS = 40;

/** Out of a hundred. */
const WEIGHTS: readonly (readonly [weight: number, attack: Attack])[] = [
  [30, spoiltBody],
  [15, brokenBody],
  [0.5, largeBody],
  [1.5, slowBody],
  [10, brokenHead],
  [15, oddHeader],
  [2, smuggled],
  [10, oddPath],
  [16, oddQuery],
];
const OF_BODIES = new Set<Attack>([spoiltBody, brokenBody, largeBody, slowBody]);

/** Attacks every operation of a node's API document with generated requests, while a good caller goes on. */
export async function attack(node: TestNode, { requests, seed, keys }: AttackOptions): Promise<AttackReport> {
  const document = new ApiDocument((await node.get('/openapi.json', { key: keys.good })).body);
  const sounds = await soundRequests(node, document, keys.hostile);
  const tools = toolsOf(document, seed, keys.hostile);
  const collect = collector();
  const { port } = node.config.http;
  const before = node.context.intake.recorded;
  const ended = new AbortController();
  const good = new GoodCaller(port, keys.good);
  const running = good.run(ended.signal);
  const stalled = await stall(port, sounds, keys.hostile);
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const state = { sent: 0, outcomes: new Map<string, number>(), faults: [] as string[], told: new Set<string>() };
  const started = performance.now();

  const lane = async (until: number): Promise<void> => {
    const connection = new RawConnection(port);
    while (state.sent < until) {
      state.sent++;
      const request = generate(sounds, tools);
      if (request.after === 'cut') {
        await connection.cut(request.pieces);
        continue;
      }
      const half = request.after === 'half-close';
      const outcome = await connection.exchange(request.pieces, { noBody: request.noBody, half });
      if (request.after !== 'stay') connection.close();
      count(state.outcomes, outcome);
      for (const id of recordsMade(request, outcome)) state.told.add(id);
      const fault = outcomeFault(document, request, outcome);
      if (fault !== null && state.faults.length < MAX_FAULTS) state.faults.push(describe(request, fault));
    }
    connection.close();
  };
  const wave = (until: number) => Promise.all(Array.from({ length: LANES }, () => lane(until)));
  await wave(Math.floor(requests / 2));
  const half = collect();
  await wave(requests);
  const end = collect();
  const seconds = (performance.now() - started) / 1000;
  delays.disable();
  ended.abort();
  await running;
  for (const connection of stalled) connection.close();
  for (const id of good.recorded) state.told.add(id);
  return {
    seconds,
    outcomes: state.outcomes,
    faults: state.faults,
    good,
    heap: { half, end },
    lag: { p99: delays.percentile(99) / 1e6, max: delays.max / 1e6 },
    records: { made: node.context.intake.recorded - before, told: state.told.size },
  };
}

/** A sound request for every operation, made of its example. */
async function soundRequests(node: TestNode, document: ApiDocument, makerKey: string): Promise<Sound[]> {
  const sounds: Sound[] = [];
  for (const [index, operation] of document.operations.entries()) {
    const world = new LiveWorld({ node, document, makerKey, patience: 0 }, `h${index}`);
    const { path, body } = await world.request(operation, 'whole');
    const [bare = '', query] = path.split('?');
    sounds.push({
      operation,
      path: bare,
      query: query === undefined ? '' : `?${query}`,
      body: isJsonObject(body ?? null) ? Object(body) : undefined,
    });
  }
  return sounds;
}

function toolsOf(document: ApiDocument, seed: number, apiKey: string): Tools {
  const judge = new SchemaJudge(document.root);
  return {
    random: new Random(seed),
    apiKey,
    judge: ({ operation }) => judge.of(operation.request?.schema ?? {}),
    judgeParameter: ({ schema }) => judge.of(schema),
  };
}

function generate(sounds: readonly Sound[], tools: Tools): HostileRequest {
  const { random } = tools;
  const sound = random.pick(sounds);
  let at = random.next() * 100;
  for (const [weight, made] of WEIGHTS) {
    at -= weight;
    if (at < 0) return sound.body === undefined && OF_BODIES.has(made) ? oddQuery(sound, tools) : made(sound, tools);
  }
  return oddQuery(sound, tools);
}

/** Connections that hold a half-sent header or body. */
function stall(port: number, sounds: readonly Sound[], apiKey: string): Promise<RawConnection[]> {
  const posts = sounds.filter(({ body }) => body !== undefined);
  const begun = Array.from({ length: STALLED }, async (_, index) => {
    const sound = posts[index % posts.length];
    if (sound === undefined) throw new RangeError('no operation takes a body');
    const body = Buffer.from(JSON.stringify(sound.body));
    const whole = wire(sound, { headers: soundHeaders(apiKey, body) }, body);
    const connection = new RawConnection(port);
    await connection.begin(whole.subarray(0, index % 2 === 0 ? 40 : -1));
    return connection;
  });
  return Promise.all(begun);
}

/** Collects garbage; gives the bytes that are left. */
function collector(): () => number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('the collector cannot be called');
  return () => {
    for (let round = 0; round < 3; round++) collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}

function count(outcomes: Map<string, number>, outcome: Awaited<ReturnType<RawConnection['exchange']>>): void {
  const name =
    typeof outcome === 'string' ? outcome : `${outcome.status} ${/"code":"([^"]+)"/.exec(outcome.body)?.[1] ?? ''}`;
  outcomes.set(name.trim(), (outcomes.get(name.trim()) ?? 0) + 1);
}

function describe({ operation, what, pieces }: HostileRequest, fault: string): string {
  const sent = Buffer.concat(pieces).toString('latin1').slice(0, 300);
  return `${operation.method} ${operation.template}, ${what}: ${fault.slice(0, 500)} <- ${JSON.stringify(sent)}`;
}
