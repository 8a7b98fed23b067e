import { join } from 'node:path';
import { pino } from 'pino';
import { AddressList } from '../../../node/outbound/address-list.ts';
import { AddressLimits } from '../../../node/accounts/limits/address-limits.ts';
import { clientAddress } from '../../../node/accounts/limits/client-address.ts';
import { AuditLog, FLUSH_ENTRIES } from '../../../node/accounts/audit-log/audit-log.ts';
import { DailyUsage } from '../../../node/accounts/limits/daily-usage.ts';
import { LimitError } from '../../../node/accounts/limits/limit-error.ts';
import { type LimitedAccount, RateLimits } from '../../../node/accounts/limits/rate-limits.ts';
import { RequestLimits } from '../../../node/accounts/limits/request-limits.ts';
import { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count } from '../table.ts';

const PROXIES = new AddressList(['10.0.0.0/8']);
/** What one decision may cost, in nanoseconds. */
const AIM_NS = 20_000;
const MANY = 10_000;
/**
 * Between two requests of one account, in milliseconds: a window of 1,200 a minute is nearly full, and lets each in.
 */
const STEP_MS = 51;
/** One in so many is to the endpoint with a limit of its own, which lets 60 a minute in. */
const ATTEST_EVERY = 20;
/** The same for an address and 120 a minute. */
const FREE_STEP_MS = 510;
const NODE = nodeId('eu');
const NOON = Date.UTC(2026, 10, 21, 12);
const FULL = { rounds: 7, requests: 200_000 };
const QUICK = { rounds: 1, requests: 20_000 };

interface Way {
  readonly name: string;
  /** Makes one request, the i-th of this way. */
  readonly request: (i: number) => Promise<void> | void;
}

/** Nanoseconds that a request pays for being counted and let in or refused. */
export const limits: Part = {
  name: 'limits',
  title: 'Limits: the whole decision on one request',
  async run(options): Promise<Result> {
    await using store = await Store.open(join(options.home, 'store'));
    await using auditLog = await AuditLog.open({
      node: NODE,
      store,
      now: () => NOON,
      isClockRight: () => true,
      log: pino({ level: 'silent' }),
    });
    const usage = await DailyUsage.open({ store, node: NODE, now: () => NOON });
    const ways: readonly Way[] = [
      { name: 'a record, 1 account', request: recording(usage, accounts(1)) },
      { name: `a record, ${count(MANY)} accounts`, request: recording(usage, accounts(MANY)) },
      { name: 'a record refused by the minute', request: refused(usage) },
      { name: 'free, 1 address', request: free(1) },
      { name: `free, ${count(MANY)} IPv6 networks`, request: free(MANY) },
      { name: 'a line of the key-use log, written', request: noted(auditLog) },
    ];
    const costs = await measure(ways, options);
    return {
      table: [
        ['request', 'ns', `of ${AIM_NS / 1000} µs`],
        ...ways.map((way) => {
          const ns = median(costs.get(way) ?? []);
          return [way.name, count(ns), `${((ns / AIM_NS) * 100).toFixed(1)} %`];
        }),
      ],
      notes: [
        'A record: the windows of tier and endpoint, room under the daily cap, the headers of the answer, and the room let',
        'go of. Every window is as full as its limit lets it be. Free: the caller’s address out of X-Forwarded-For, and its',
        'window. The line: noted, chained and on the disk, in writes of many. One request after another; nothing else of',
        'the request is in it.',
      ],
    };
  },
};

async function measure(ways: readonly Way[], { quick, say, signal }: BenchOptions): Promise<Map<Way, number[]>> {
  const { rounds, requests } = quick ? QUICK : FULL;
  const costs = new Map<Way, number[]>(ways.map((way) => [way, []]));
  const turn = async ({ request }: Way, from: number): Promise<number> => {
    const started = performance.now();
    for (let i = 0; i < requests; i++) await request(from + i);
    return ((performance.now() - started) * 1e6) / requests;
  };
  for (const way of ways) await turn(way, 0);
  for (let round = 0; round < rounds; round++) {
    for (const way of ways) {
      signal.throwIfAborted();
      const ns = await turn(way, (round + 1) * requests);
      costs.get(way)?.push(ns);
      say(`${way.name}: ${count(ns)} ns`);
    }
  }
  return costs;
}

function accounts(size: number): readonly LimitedAccount[] {
  return Array.from({ length: size }, (_, i) => ({ id: `acc_eu_${size}-${i}`, tier: 'professional' }));
}

function recording(usage: DailyUsage, callers: readonly LimitedAccount[]): Way['request'] {
  let now = 0;
  const admits = new RequestLimits(new RateLimits(() => now), usage);
  return async (i) => {
    now += STEP_MS / callers.length;
    const caller = callers[i % callers.length];
    if (caller === undefined) return;
    const isAttest = Math.floor(i / callers.length) % ATTEST_EVERY === 0;
    const admission = await admits.admit(caller, isAttest ? 'POST /v1/attest' : 'POST /v1/tiered-attest', 1);
    admission.release();
    admission.headers();
  };
}

function refused(usage: DailyUsage): Way['request'] {
  const admits = new RequestLimits(new RateLimits(() => 0), usage);
  return async () => {
    try {
      (await admits.admit({ id: 'acc_eu_busy', tier: 'developer' }, 'POST /v1/tiered-attest', 1)).release();
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
    }
  };
}

function noted(auditLog: AuditLog): Way['request'] {
  const use = {
    action: 'POST /v1/attest',
    address: '203.0.113.7',
    by: 'key_eu_bench',
    requestId: 'req-1',
    status: 200,
  };
  return (i) => {
    auditLog.note('acc_eu_bench', { ...use, subject: String(i) });
    return i % FLUSH_ENTRIES === 0 ? auditLog.flush() : undefined;
  };
}

function free(size: number): Way['request'] {
  let now = 0;
  const admits = new AddressLimits({ now: () => now });
  const headers = Array.from({ length: size }, (_, i) => `198.51.100.7, 2001:db8:${i.toString(16)}:1::9`);
  return (i) => {
    now += FREE_STEP_MS / size;
    admits.admit(clientAddress({ remoteAddress: '10.0.0.1', forwardedFor: headers[i % size] }, PROXIES));
  };
}
