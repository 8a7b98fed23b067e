import { setTimeout as sleep } from 'node:timers/promises';
import { NO_FAULTS } from '../../cluster/ledger/faults.ts';
import type { Damage, Place, FaultFederation } from './fault-federation.ts';
import { NODES } from './fault-federation.ts';

export interface Scenario {
  readonly name: string;
  readonly begin: (federation: FaultFederation) => Promise<void>;
  /** The weather is fair again when it resolves. */
  readonly end: (federation: FaultFederation) => Promise<void>;
}

/** Beyond the time in which a silent connection is noticed: pings go every 5 s and may take 10 s. */
export const NOTICED_MS = 30_000;
/** Round trips between regions, in milliseconds. */
const ROUND_TRIPS: readonly (readonly [Place, Place, number])[] = [
  ['us', 'eu', 90],
  ['us', 'ca', 40],
  ['us', 'sg', 230],
  ['us', 'jp', 160],
  ['eu', 'ca', 100],
  ['eu', 'sg', 180],
  ['eu', 'jp', 240],
  ['ca', 'sg', 230],
  ['ca', 'jp', 170],
  ['sg', 'jp', 75],
];
const LOSS = 0.01;
const SLOW_BYTES_PER_SECOND = 30_000;
const CLOCK_OFF_MS = 180_000;

/** Real distances, for all that follows. */
export function spreadOverTheWorld({ links }: FaultFederation): void {
  for (const [a, b, roundTrip] of ROUND_TRIPS) {
    for (const [from, to] of [[a, b] as const, [b, a] as const]) links.set(from, to, { delayMs: roundTrip / 2 });
  }
}

const heal = async (federation: FaultFederation): Promise<void> => {
  federation.links.setAll(NODES, { cut: false, loss: 0, bytesPerSecond: Number.POSITIVE_INFINITY });
};

/** A node whose clock is off from its next start on. */
async function restartAt(federation: FaultFederation, node: Place, offMs: number): Promise<void> {
  await federation.stopWriting();
  await federation.cluster.end(node);
  const source = `const now=Date.now;Date.now=()=>now()+${offMs}`;
  const off = offMs === 0 ? {} : { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
  await federation.startNode(node, off);
  federation.startWriting();
}

export const SPLIT: Scenario = {
  name: 'split 3/2',
  begin: async ({ links }) => links.split(['us', 'eu', 'ca'], ['sg', 'jp']),
  end: heal,
};

export const ONE_WAY: Scenario = {
  name: 'one-way cut',
  begin: async ({ links }) => links.set('us', 'sg', { cut: true }),
  end: heal,
};

export const LOSSY: Scenario = {
  name: '1 % loss',
  begin: async ({ links }) => links.setAll(NODES, { loss: LOSS }),
  end: heal,
};

const SLOW: Scenario = {
  name: 'slow link',
  async begin({ links }) {
    links.set('eu', 'jp', { bytesPerSecond: SLOW_BYTES_PER_SECOND });
    links.set('jp', 'eu', { bytesPerSecond: SLOW_BYTES_PER_SECOND });
  },
  end: heal,
};

export const FROZEN: Scenario = {
  name: 'frozen process',
  begin: async (federation) => federation.signal('ca', 'SIGSTOP'),
  end: async (federation) => federation.signal('ca', 'SIGCONT'),
};

export const LEDGER_DOWN: Scenario = {
  name: 'ledger down',
  begin: (federation) => federation.setLedger({ unavailable: 1, mirrorDown: true, roundPaused: true }),
  end: (federation) => federation.setLedger(NO_FAULTS),
};

const MIRROR_LAGS: Scenario = {
  name: 'ledger mirror lagging',
  begin: (federation) => federation.setLedger({ mirrorLagMs: 60_000 }),
  end: (federation) => federation.setLedger(NO_FAULTS),
};

const MIRROR_LIES: Scenario = {
  name: 'ledger mirror lying',
  begin: async ({ mirror }) => void (mirror.lies = true),
  end: async ({ mirror }) => void (mirror.lies = false),
};

const CLOCK_OFF: Scenario = {
  name: 'clock off by minutes',
  begin: (federation) => restartAt(federation, 'jp', CLOCK_OFF_MS),
  end: (federation) => restartAt(federation, 'jp', 0),
};

export const ALL: readonly Scenario[] = [
  SPLIT,
  ONE_WAY,
  LOSSY,
  SLOW,
  FROZEN,
  LEDGER_DOWN,
  MIRROR_LAGS,
  MIRROR_LIES,
  CLOCK_OFF,
];

export interface Healing {
  /** From fair weather to every node holding everything, in seconds. */
  readonly whole: number;
  readonly damage: Damage;
}

/** Some scenarios at once, for a time, with every node written to; then fair weather. */
export async function runWithFaults(
  federation: FaultFederation,
  scenarios: readonly Scenario[],
  holdMs: number,
  during: () => Promise<void> = async () => {},
): Promise<Healing> {
  federation.startWriting();
  for (const { begin } of scenarios) await begin(federation);
  await Promise.all([sleep(holdMs), during()]);
  for (const { end } of scenarios) await end(federation);
  const healed = performance.now();
  await federation.stopWriting();
  await federation.converge();
  return { whole: (performance.now() - healed) / 1_000, damage: await federation.damage() };
}
