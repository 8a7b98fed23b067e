import * as assert from 'uvu/assert';
import type { AttackName, Tally } from '../../scripts/bench/attacks/attack-target.ts';
import { HonestCallers } from '../../scripts/bench/attacks/honest-callers.ts';
import { Watch } from '../../scripts/bench/attacks/watch.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import type { AttackedNode, Work } from './attacked-node.ts';
import type { RunningAttack } from './attacks/attack.ts';
import { ATTACKS } from './attacks/attacks.ts';

/** How many requests each attack makes. */
export type Requests = Readonly<Record<AttackName, number>>;

const HONEST_CALLERS = 100;
/** Between two looks of the monitor. */
const LOOK_MS = 50;
/** Free requests that an account of the developer tier has in a minute. */
const FREE_PER_MINUTE = 120;
const MINUTE_MS = 60_000;
/** What is not shared by records that came together may be this much more than in calm. */
const MORE_BYTES = 2;
const BUSY = '503 dependency-unavailable';
/** Written now and then, whoever asks. */
const SELDOM = [
  'api-key',
  'audit-closed',
  'audit-day',
  'audit-head',
  'settlement-closed',
  'tally',
  'tally-end',
  'usage',
  'usage-end',
];
/** Written with groups, batches and decisions: how many records meet in one depends on when they come. */
const SHARED = [
  'group',
  'envelope',
  'batch-first',
  'tile',
  'outbox',
  'outbox-closed',
  'spend',
  'log-entry',
  'log-tile',
  'log-batch',
  'log-state',
  'chain-state',
  'chain-source',
  'own-vouched',
  'own-name',
  'checkpoint',
  'sealing-key',
];
const APART = new Set([...SELDOM, ...SHARED]);

interface Outcome {
  readonly honest: HonestCallers;
  readonly tallies: Partial<Record<AttackName, Tally>>;
  /** Begun while it went on: a long attack on a busy machine has the allowance of more than one. */
  readonly minutes: number;
  /** What the node did meanwhile. */
  readonly verdicts: number;
  readonly records: number;
  readonly forged: number;
  readonly settles: number;
  /** Bytes that each table grew by. */
  readonly grown: ReadonlyMap<string, number>;
}

/** What honest callers leave with nobody beside them. */
interface Calm {
  readonly bytesOfRequest: number;
  readonly tables: ReadonlySet<string>;
}

/** Attacks on one node with a hundred honest connections and a monitor beside them, and what must hold meanwhile. */
export class BesideHonest {
  readonly #attacked: AttackedNode;
  readonly #requests: Requests;
  #calm: Calm | undefined;

  constructor(attacked: AttackedNode, requests: Requests) {
    this.#attacked = attacked;
    this.#requests = requests;
  }

  /** With nobody beside them: what all that follows is compared with. */
  async calm(): Promise<void> {
    const outcome = await this.#run([]);
    const { honest, records, grown } = outcome;
    assert.is(records, honest.recorded.length);
    const bytesOfRequest = permanentBytes(outcome) / honest.milliseconds.length;
    this.#calm = { bytesOfRequest, tables: new Set([...grown.keys(), ...APART]) };
  }

  /** Nothing is denied to the honest, what is refused costs no work, and attackers without an account leave nothing. */
  async attack(names: readonly AttackName[]): Promise<void> {
    const outcome = await this.#run(names);
    for (const name of names) REQUIRED[name](outcome.tallies[name] ?? {}, this.#requests[name], outcome.minutes);
    this.#requireNoWork(outcome);
    const recorded = count(outcome.tallies['generated-requests'] ?? {}, 'recorded');
    assert.is(outcome.records, outcome.honest.recorded.length + recorded, 'records that nobody was told of');
    if (!names.includes('generated-requests')) this.#requireNothingLeft(outcome);
  }

  async #run(names: readonly AttackName[]): Promise<Outcome> {
    const { target, node, chain } = this.#attacked;
    const prepared = await Promise.all(names.map(async (name) => ({ name, begin: await ATTACKS[name](target) })));
    const before = await this.#attacked.work();
    const { forged, settles } = chain;
    const { port, records } = target;
    const honest = new HonestCallers({ port, apiKey: API_KEYS.enterprise, records, callers: HONEST_CALLERS });
    const watch = new Watch({ port, metricsPort: node.metricsPort, healthPauseMs: LOOK_MS, metricsPauseMs: LOOK_MS });
    const over = new AbortController();
    const watching = watch.run(over.signal);
    const began = performance.now();
    const running = prepared.map(({ name, begin }): [AttackName, RunningAttack] => [name, begin(this.#requests[name])]);
    const tallies: Partial<Record<AttackName, Tally>> = {};
    try {
      await Promise.all([honest.run({ requests: 1 }), ...running.map(([, { done }]) => done)]);
    } finally {
      over.abort();
      await watching;
      for (const [name, attack] of running) tallies[name] = await attack.end();
    }
    const minutes = 1 + Math.floor((performance.now() - began) / MINUTE_MS);
    console.log(`${JSON.stringify(tallies)}; ${honest.busy} honest requests were put off`);
    assert.equal(honest.faults, []);
    assert.is(honest.milliseconds.length, HONEST_CALLERS);
    assert.equal(watch.faults, []);
    assert.ok(watch.health.length > 0 && watch.metrics.length > 0);
    const done = { forged: chain.forged - forged, settles: chain.settles - settles };
    return { honest, tallies, minutes, ...done, ...difference(before, await this.#attacked.work()) };
  }

  #requireNoWork({ verdicts, forged, settles, tallies }: Outcome): void {
    const { chain } = this.#attacked;
    const requests = this.#requests;
    const shared = tallies['dearest-record'] === undefined ? 0 : requests['dearest-record'] / 2;
    const generated = tallies['generated-requests'] === undefined ? 0 : requests['generated-requests'];
    const computed = HONEST_CALLERS + count(tallies['many-verifications'] ?? {}, '200') + shared + generated;
    assert.ok(verdicts <= computed, `${verdicts} verdicts, ${computed} are allowed`);
    const wellFormed = tallies['forged-payments'] === undefined ? 0 : requests['forged-payments'] / 2;
    if (generated === 0) assert.is(forged, wellFormed, 'signatures that were checked and did not hold');
    if (tallies['poor-wallet'] === undefined && generated === 0) assert.is(settles, 0, 'settlements');
    assert.ok(chain.mostSettling <= 1, 'batches of one wallet that never paid');
    assert.is(chain.paid.length, 0);
  }

  #requireNothingLeft(outcome: Outcome): void {
    if (this.#calm === undefined) throw new Error('nothing to compare with');
    const { bytesOfRequest, tables } = this.#calm;
    const { honest, grown } = outcome;
    assert.equal(
      [...grown.keys()].filter((table) => !tables.has(table)),
      [],
      'rows of another kind',
    );
    const allowed = MORE_BYTES * bytesOfRequest * honest.milliseconds.length;
    assert.ok(permanentBytes(outcome) <= allowed, `${permanentBytes(outcome)} bytes, ${allowed} are allowed`);
  }
}

/** What each attack may come to, alone and beside the others. */
const REQUIRED: Readonly<Record<AttackName, (tally: Tally, requests: number, minutes: number) => void>> = {
  'many-verifications'(tally, requests, minutes) {
    assert.ok(count(tally, '200') <= minutes * FREE_PER_MINUTE, JSON.stringify(tally));
    assert.is(count(tally, '200', '429 rate-limited', BUSY), requests, JSON.stringify(tally));
  },
  'dearest-record': (tally, requests) => assert.is(count(tally, '200', BUSY), requests, JSON.stringify(tally)),
  'slow-bodies'(tally) {
    // Of 80 MiB that arrive at once 24 may be there.
    assert.ok(count(tally, 'answered 503') >= 2, JSON.stringify(tally));
    only(tally, /^answered (408|503)$/, /^closed$/, /^held to the end$/);
  },
  'foreign-bundles': (tally, requests) => assert.is(count(tally, '200', BUSY), requests, JSON.stringify(tally)),
  'forged-payments'(tally, requests) {
    // Answered though most of the body never came.
    assert.equal(tally, { '400 payment-invalid': requests / 2, '402 payment-refused': requests / 2 });
  },
  'poor-wallet': (tally) => only(tally, /^402 /, /^429 [a-z-]+$/, /^503 [a-z-]+$/),
  'greedy-member': (tally, requests) => assert.is(count(tally, 'answered', 'refused'), requests, JSON.stringify(tally)),
  // What each of them must come to is judged by `hostile.test.ts`. An answer to HEAD has no code.
  'generated-requests': (tally) => only(tally, /^(2\d\d|304|4\d\d)/, /^503( [a-z-]+)?$/, /^closed$/, /^recorded$/),
};

function difference(before: Work, after: Work): Pick<Outcome, 'grown' | 'records' | 'verdicts'> {
  const grown = [...after.tables].map(([table, bytes]): [string, number] => [
    table,
    bytes - (before.tables.get(table) ?? 0),
  ]);
  return {
    verdicts: after.verdicts - before.verdicts,
    records: after.records - before.records,
    grown: new Map(grown.filter(([, bytes]) => bytes > 0)),
  };
}

/** Of all tables whose rows come with a request. */
function permanentBytes({ grown }: Outcome): number {
  return [...grown].reduce((total, [table, bytes]) => (APART.has(table) ? total : total + bytes), 0);
}

function only(tally: Tally, ...outcomes: readonly RegExp[]): void {
  const others = Object.keys(tally).filter((outcome) => !outcomes.some((each) => each.test(outcome)));
  assert.equal(others, [], JSON.stringify(tally));
}

function count(tally: Tally, ...outcomes: readonly string[]): number {
  return outcomes.reduce((total, outcome) => total + (tally[outcome] ?? 0), 0);
}
