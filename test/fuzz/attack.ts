import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { auditAttestedTable } from '../../node/accounts/audit-log/audit-attested.ts';
import { ApiDocument } from '../fixtures/api-document.ts';
import type { TestNode } from '../fixtures/test-node.ts';
import { GoodCaller } from './good-caller.ts';
import { type Sound, soundHeaders, wire } from './fuzzed-request.ts';
import { RequestFuzzer } from './request-fuzzer.ts';
import { RawConnection } from './raw-connection.ts';
import { soundRequests } from './sound-requests.ts';

export interface AttackOptions {
  readonly requests: number;
  readonly seed: number;
  /** Keys of two accounts: one without limits that attacks, one that behaves. */
  readonly keys: { readonly hostile: string; readonly good: string };
}

export interface AttackReport {
  readonly seconds: number;
  readonly hostile: RequestFuzzer;
  readonly good: GoodCaller;
  /** Bytes in use after a collection, half-way and at the end. */
  readonly heap: { readonly half: number; readonly end: number };
  /** Of the event loop, which serves the attackers too. In milliseconds. */
  readonly lag: { readonly p99: number; readonly max: number };
  /** Records that the node made for callers meanwhile, and those that callers were told of. */
  readonly records: { readonly made: number; readonly told: number };
}

/** Connections that begin a request and never end it, for as long as the attack goes on. */
const STALLED = 20;

/** Attacks every operation of a node's API document with generated requests, while a good caller goes on. */
export async function attack(node: TestNode, { requests, seed, keys }: AttackOptions): Promise<AttackReport> {
  const document = new ApiDocument((await node.get('/openapi.json', { key: keys.good })).body);
  const { port } = node.config.http;
  const sounds = await soundRequests(node, document, keys.hostile);
  const hostile = new RequestFuzzer({ port, document, sounds, seed, apiKey: keys.hostile });
  const collect = collector();
  const before = await recordsForCallers(node);
  const ended = new AbortController();
  const good = new GoodCaller(port, keys.good);
  const running = good.run(ended.signal);
  const stalled = await stall(port, sounds, keys.hostile);
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const started = performance.now();
  await hostile.run(Math.floor(requests / 2));
  const half = collect();
  await hostile.run(requests);
  const end = collect();
  const seconds = (performance.now() - started) / 1000;
  delays.disable();
  ended.abort();
  await running;
  for (const connection of stalled) connection.close();
  const made = (await recordsForCallers(node)) - before;
  return {
    seconds,
    hostile,
    good,
    heap: { half, end },
    lag: { p99: delays.percentile(99) / 1e6, max: delays.max / 1e6 },
    records: { made, told: hostile.recorded.size + good.recorded.length },
  };
}

/** All records but those that the node makes for itself after midnight. */
async function recordsForCallers({ context: { intake, store } }: TestNode): Promise<number> {
  let ofItself = 0;
  for await (const _ of auditAttestedTable.under(store, [])) ofItself++;
  return intake.recorded - ofItself;
}

/** Connections that hold a half-sent header or body. */
function stall(port: number, sounds: readonly Sound[], apiKey: string): Promise<RawConnection[]> {
  const posts = sounds.filter(({ body }) => body !== undefined);
  const begun = Array.from({ length: STALLED }, async (_, index) => {
    const sound = posts[Math.floor((index * posts.length) / STALLED)];
    if (sound === undefined) throw new RangeError('no operation takes a body');
    const body = Buffer.from(JSON.stringify(sound.body));
    const whole = wire(sound, { headers: soundHeaders(sound, apiKey, body) }, body);
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
