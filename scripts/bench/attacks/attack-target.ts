/** What attackers are told of the node that they attack, as JSON. Everything listens on loopback. */
export interface AttackTarget {
  /** Of the API, which believes `X-Forwarded-For` from this machine. */
  readonly port: number;
  /** Public address of the node, as payments must name it. */
  readonly baseUrl: string;
  readonly keys: {
    /** Of an account of the developer tier, which anyone gets. */
    readonly free: string;
    /** Of an account without limits, for requests that are to be read further than any limit lets them. */
    readonly unmetered: string;
  };
  /** Records that are verified. */
  readonly records: readonly string[];
  /** The record with the most linked to it. */
  readonly dearest: string;
  /** Whom the node's callers pay. */
  readonly payTo: string;
  /** Private key of a wallet that holds the price of one large batch. */
  readonly wallet: `0x${string}`;
  /** Records of one batch that the wallet signs for. */
  readonly batchRecords: number;
  /** A member of the federation that does not run: its home, and the file with the rosters. */
  readonly member: { readonly id: string; readonly home: string; readonly rosterFile: string };
}

/** The attacks, by name, and who makes each. `test/fuzz/attacker.ts` is the process that makes one. */
export const ATTACKERS = {
  'many-verifications': 'a free key',
  'dearest-record': 'strangers',
  'slow-bodies': 'strangers',
  'foreign-bundles': 'strangers',
  'forged-payments': 'strangers',
  'poor-wallet': 'a wallet without money',
  'greedy-member': 'a member with its key',
  'generated-requests': 'an account without limits',
} as const;

export type AttackName = keyof typeof ATTACKERS;

export const ATTACK_NAMES: readonly AttackName[] = [
  'many-verifications',
  'dearest-record',
  'slow-bodies',
  'foreign-bundles',
  'forged-payments',
  'poor-wallet',
  'greedy-member',
  'generated-requests',
];

/** How often each thing happened to an attacker: statuses and codes of answers, what was closed, what was sent. */
export type Tally = Readonly<Record<string, number>>;

export function isTally(value: unknown): value is Tally {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every((count) => typeof count === 'number')
  );
}
