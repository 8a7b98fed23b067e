/** `problem`: the store is not whole. `warning`: odd, and harmless to this store. `note`: nothing to act on. */
export type Severity = 'problem' | 'warning' | 'note';

export interface Finding {
  readonly severity: Severity;
  /** A table of the store, or `files` or `keys`. */
  readonly table: string;
  /** The row's key, or a file and where in it; null where it concerns the table as a whole. */
  readonly key: string | null;
  readonly detail: string;
}

const NO_COUNTS = {
  records: 0,
  groups: 0,
  batches: 0,
  tiles: 0,
  unsealed: 0,
  sources: 0,
  payloadsOpened: 0,
  payloadsErased: 0,
  payloadsAbsent: 0,
  rosters: 0,
  certificates: 0,
  revocations: 0,
  equivocations: 0,
  decisions: 0,
  logTiles: 0,
  logRosters: 0,
  rivals: 0,
  checkpoints: 0,
  falseCheckpoints: 0,
  receiptsNotKept: 0,
  replacedCheckpoints: 0,
  outboxOpen: 0,
  outboxConfirmed: 0,
  rescuesOpen: 0,
  statementsOpen: 0,
  statementsConfirmed: 0,
  duplicateGuards: 0,
  idempotencyKeys: 0,
  usageDays: 0,
  tallies: 0,
  agentKeys: 0,
  agentKeysAbsent: 0,
  purgesDue: 0,
  accounts: 0,
  agentTallies: 0,
  apiKeys: 0,
  foreignStatements: 0,
  signUps: 0,
  lostKeyLinks: 0,
  shares: 0,
  signIns: 0,
  people: 0,
  secondFactors: 0,
  webhooks: 0,
  mailAlerts: 0,
  oversightPolicies: 0,
  auditLogs: 0,
  auditEntries: 0,
  auditEntriesLost: 0,
  auditDaysOpen: 0,
  auditDaysAttested: 0,
  payments: 0,
  paymentsOpen: 0,
  paymentsHeld: 0,
  paymentsUnpublished: 0,
  recordsPrepared: 0,
  settlements: 0,
  wallets: 0,
  listEditions: 0,
  packs: 0,
  regItems: 0,
  restorations: 0,
  keyFiles: 0,
};
export type CountName = keyof typeof NO_COUNTS;
export type Counts = Readonly<Record<CountName, number>>;

const COUNT_NAMES = Object.keys(NO_COUNTS).filter(isCountName);
const NONE_FOUND: Readonly<Record<Severity, number>> = { problem: 0, warning: 0, note: 0 };
const SEVERITIES = ['problem', 'warning', 'note'] as const;

/** Findings kept and told: damage that repeats ten million times is counted, not listed. */
export const MAX_FINDINGS = 1000;

export interface ReportListener {
  readonly onFinding?: (finding: Finding) => void;
  /** Called after every range of groups. `expected`: records that there seem to be. */
  readonly onProgress?: (counts: Counts, expected: number) => void;
}

/** What a part of a check found: plain data, for the report of the whole. */
export interface PartReport {
  readonly findings: readonly Finding[];
  /** Findings of each severity, those past `MAX_FINDINGS` included. */
  readonly found: Readonly<Record<Severity, number>>;
  /** Without those that are 0. */
  readonly counts: Partial<Counts>;
  readonly notChecked: readonly string[];
}

/** What a check has seen so far. Memory is bounded however damaged the store is. */
export class Report {
  readonly findings: Finding[] = [];
  /** Parts that could not be checked, and why. */
  readonly notChecked: string[] = [];
  readonly #listener: ReportListener;
  readonly #found: Record<Severity, number> = { ...NONE_FOUND };
  readonly #counts: Record<CountName, number> = { ...NO_COUNTS };
  #expected = 0;

  constructor(listener: ReportListener = {}) {
    this.#listener = listener;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** Findings of a severity, those past `MAX_FINDINGS` included. */
  found(severity: Severity): number {
    return this.#found[severity];
  }

  count(name: CountName, more = 1): void {
    this.#counts[name] += more;
  }

  /** All that was told so far. It is forgotten here: what comes is another part. */
  part(): PartReport {
    const { findings, notChecked } = this;
    const counts: Partial<Record<CountName, number>> = {};
    for (const name of COUNT_NAMES) {
      if (this.#counts[name] > 0) counts[name] = this.#counts[name];
      this.#counts[name] = 0;
    }
    const part = { findings: findings.splice(0), found: { ...this.#found }, counts, notChecked: notChecked.splice(0) };
    Object.assign(this.#found, NONE_FOUND);
    return part;
  }

  /** Takes what a part of the check found. */
  add({ findings, found, counts, notChecked }: PartReport): void {
    for (const name of COUNT_NAMES) this.#counts[name] += counts[name] ?? 0;
    this.notChecked.push(...notChecked);
    for (const finding of findings) this.find(finding);
    for (const severity of SEVERITIES) {
      const listed = findings.filter((finding) => finding.severity === severity).length;
      this.#found[severity] += found[severity] - listed;
    }
  }

  /** So many records more will be checked. */
  expect(records: number): void {
    this.#expected += records;
  }

  progress(): void {
    this.#listener.onProgress?.(this.#counts, this.#expected);
  }

  problem(table: string, key: string | null, detail: string): void {
    this.find({ severity: 'problem', table, key, detail });
  }

  warning(table: string, key: string | null, detail: string): void {
    this.find({ severity: 'warning', table, key, detail });
  }

  find(finding: Finding): void {
    this.#found[finding.severity]++;
    if (this.findings.length >= MAX_FINDINGS) return;
    this.findings.push(finding);
    this.#listener.onFinding?.(finding);
  }
}

function isCountName(name: string): name is CountName {
  return Object.hasOwn(NO_COUNTS, name);
}
