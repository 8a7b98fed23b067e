import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { AuditLog } from '../../../../node/accounts/audit-log/audit-log.ts';
import { readLine } from '../../../../node/accounts/audit-log/audit-reader.ts';
import { auditEntryTable, auditHeadTable } from '../../../../node/accounts/audit-log/audit-tables.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { Store, StoreError } from '../../../../node/store/store.ts';
import type { AuditEntry, AuditFacts } from '../../../../protocol/audit/entry.ts';
import { verifyAuditLog } from '../../../../protocol/audit/walk.ts';
import { nodeId } from '../../../../protocol/ids.ts';

export const NODE = nodeId('eu');
export const KEY = 'key_eu_01J00000000000000000000001';
export const DAY_MS = 86_400_000;
/** A minute before midnight. */
export const LATE = Date.UTC(2026, 10, 20, 23, 59);

export interface AuditFixtureOptions {
  readonly now?: () => number;
  /** Default: it is. */
  readonly isClockRight?: () => boolean;
  readonly steady?: () => number;
  readonly maxWaiting?: number;
  /** Called before each write; true has the store refuse it. */
  readonly refuses?: () => boolean;
}

/** A key-use log over a real store, with a disk that can be made to fail. */
export class AuditFixture implements AsyncDisposable {
  readonly store: Store;
  readonly auditLog: AuditLog;
  /** Lines of the log of the process. */
  readonly told: string[];
  #isDead = false;

  private constructor(store: Store, auditLog: AuditLog, told: string[]) {
    this.store = store;
    this.auditLog = auditLog;
    this.told = told;
  }

  static async open(directory: string, options: AuditFixtureOptions = {}): Promise<AuditFixture> {
    const store = await Store.open(join(directory, 'store'));
    const write = store.write.bind(store);
    store.write = async (operations) => {
      if (options.refuses?.() === true) throw new StoreError('write-failed', 'the disk is full');
      await write(operations);
    };
    const told: string[] = [];
    const auditLog = await AuditLog.open({
      node: NODE,
      store,
      now: options.now ?? Date.now,
      isClockRight: options.isClockRight ?? (() => true),
      log: pino({ level: 'debug' }, { write: (line: string) => void told.push(line) }),
      ...(options.steady === undefined ? {} : { steady: options.steady }),
      ...(options.maxWaiting === undefined ? {} : { maxWaiting: options.maxWaiting }),
    });
    return new AuditFixture(store, auditLog, told);
  }

  /** As the process were killed: nothing more reaches the disk. */
  async die(): Promise<void> {
    this.#isDead = true;
    this.store.write = () => Promise.reject(new StoreError('closed', 'the process is gone'));
    await this.auditLog[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDead) return;
    await this.auditLog[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'audit-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A use of a key; `more` changes it. */
export function use(subject: string | number, more: Partial<AuditFacts> = {}): AuditFacts {
  return {
    action: 'POST /v1/attest',
    address: '203.0.113.7',
    by: KEY,
    requestId: 'req-1',
    status: 200,
    subject: String(subject),
    ...more,
  };
}

/** An account's lines on the disk. Fails unless they are a whole chain that ends at its head row. */
export async function linesOf(store: Store, account: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const [, row] of auditEntryTable.under(store, [account])) lines.push(...row);
  const verdict = verifyAuditLog(nativeSuite, lines, { node: NODE, account });
  const head = await auditHeadTable.get(store, account);
  const isAtEnd = head?.seq === verdict?.last && head?.hash === verdict?.head;
  if (!isAtEnd) throw new Error(`the head of ${account} is not at its last line`);
  return lines;
}

export async function entriesOf(store: Store, account: string): Promise<AuditEntry[]> {
  return (await linesOf(store, account)).map((line) => readLine(line).entry);
}

export async function subjectsOf(store: Store, account: string): Promise<(string | null)[]> {
  return (await entriesOf(store, account)).map(({ subject }) => subject);
}

/** 0 … n - 1 as the subjects that `use` makes of them. */
export function countUp(n: number, from = 0): string[] {
  return Array.from({ length: n }, (_, i) => String(from + i));
}
