import type { Logger } from 'pino';
import { homeOf } from '../../../protocol/accounts/account-id.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import { backoffDelay } from '../../concurrency/backoff.ts';
import type { Draft } from '../../intake/draft.ts';
import { refusalOf } from '../../records/record-tables.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads, Rows } from '../../store/store.ts';
import { keyEvent } from '../account-event.ts';
import type { AccountStore, HeldKey } from '../account-store.ts';
import type { Account } from '../account.ts';
import { keyOperations, keyState } from '../api-key.ts';
import { statementDraft } from './statement-draft.ts';
import {
  type AccountVersion,
  dueOperation,
  namesOthers,
  newestVersion,
  statedVersionTable,
  statementDueTable,
} from './statement-tables.ts';

/** Versions that an account may have at once, about, and how long it takes until one more is free. In milliseconds. */
export const STATEMENT_BURST = 20;
export const STATEMENT_EVERY_MS = 60_000;
/** Accounts from which on those that have rested are forgotten. */
const MANY_ACCOUNTS = 1_000;

interface Used {
  /** Versions that count, as of `at`. */
  readonly versions: number;
  readonly at: number;
}

/**
 * How soon an account may have its next version: at once where it has changed seldom, and the later the more it has
 * changed, so that changes in quick succession share a version, and that who changes keys all day leaves one version a
 * minute. In memory: a restart forgets.
 */
export class StatementPace {
  readonly #steady: () => number;
  readonly #used = new Map<string, Used>();

  /** `steady` is a clock that is never set, in milliseconds. */
  constructor(steady: () => number = () => performance.now()) {
    this.#steady = steady;
  }

  /** Milliseconds until the next version of an account. */
  wait(account: string): number {
    const used = this.#used.get(account);
    if (used === undefined) return 0;
    const since = this.#steady() - used.at;
    return Math.max(0, STATEMENT_EVERY_MS * (used.versions / STATEMENT_BURST) ** 3 - since);
  }

  /** A version was made. */
  note(account: string): void {
    if (this.#used.size >= MANY_ACCOUNTS) this.#forgetRested();
    this.#used.set(account, { versions: this.#versionsOf(account) + 1, at: this.#steady() });
  }

  #versionsOf(account: string): number {
    const used = this.#used.get(account);
    return used === undefined ? 0 : Math.max(0, used.versions - (this.#steady() - used.at) / STATEMENT_EVERY_MS);
  }

  #forgetRested(): void {
    for (const account of this.#used.keys()) if (this.#versionsOf(account) === 0) this.#used.delete(account);
  }
}

export interface StatementPublisherOptions {
  readonly store: Rows;
  readonly accountStore: Pick<AccountStore, 'account' | 'change' | 'keys' | 'look' | 'node' | 'now' | 'onStatementDue'>;
  /** Makes the record of a version, with the rows of `besides` in its write. Rejects where nothing was recorded. */
  readonly record: (draft: Draft) => Promise<unknown>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** An account as it is to be stated, and the rows by which it is due. */
interface Due {
  /** Whether anything that a version says was changed here. */
  readonly isChanged: boolean;
  readonly rows: readonly Operation[];
  readonly account: Account | undefined;
  readonly keys: readonly HeldKey[];
}

/** Pause between two looks where nothing is told, in milliseconds. */
const LOOK_MS = 30_000;
/** Versions that are made side by side: they share a group. */
const TOGETHER = 64;

/**
 * Records a new version of an account's statement whenever what it says has changed: at once, and after a start what
 * was left. One version may carry several changes.
 *
 * Crash order: a change lands with a row of its own; the record of a version takes away, in its own write, the rows of
 * the changes that it carries, and marks its number. So a change is either in a version or still due, wherever the node
 * stops. What cannot be recorded now stays due and is tried again; no change waits for it. An account that changes
 * again and again has its versions paced.
 *
 * A key that a named node refused ends here first, by a row that lands with the record of the refusal.
 *
 * A store that was restored from an older copy holds, among the records that it took back, a version newer than its
 * mark: its rows may hold keys that were revoked since. Such an account is held back until its operator says that they
 * are right.
 */
export class StatementPublisher implements AsyncDisposable {
  readonly #options: StatementPublisherOptions;
  readonly #wake = new AutoResetEvent();
  readonly #ending = new AbortController();
  readonly #stopListening: () => void;
  readonly #held = new Set<string>();
  readonly #pace = new StatementPace();
  #loop: Promise<void> | undefined;

  constructor(options: StatementPublisherOptions) {
    this.#options = options;
    this.#stopListening = options.accountStore.onStatementDue(() => this.#wake.notify());
  }

  /** Accounts that are held back, as of the last look. */
  get held(): ReadonlySet<string> {
    return this.#held;
  }

  /** Once records are accepted. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Looks again soon. */
  poke(): void {
    this.#wake.notify();
  }

  /** Rows that go into the write of what another node records. */
  rowsOf(records: readonly AttestationRecord[]): readonly Operation[] {
    return refusalOperations(refusalsAmong(this.#options.accountStore.node, records));
  }

  /** Told of it once it is on the disk. */
  onWritten(records: readonly AttestationRecord[]): void {
    if (refusalsAmong(this.#options.accountStore.node, records).length > 0) this.#wake.notify();
  }

  /** Waits for records under way. What is left is recorded after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    this.#ending.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const { random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const { isDone, nextMs } = await this.#look();
      failures = isDone ? 0 : failures + 1;
      await this.#wake.wait(failures === 0 ? nextMs : backoffDelay(failures, random()), signal);
    }
  }

  /** Whether all that may be recorded now was, and when to look again. Never rejects. */
  async #look(): Promise<{ readonly isDone: boolean; readonly nextMs: number }> {
    let isDone = true;
    let nextMs = LOOK_MS;
    try {
      for await (const accounts of this.#dueAccounts()) {
        if (this.#ending.signal.aborted) break;
        const waits = await Promise.all(accounts.map((account) => this.#publish(account)));
        isDone &&= waits.every((wait) => wait !== null);
        nextMs = Math.min(nextMs, ...waits.filter((wait) => wait !== null));
      }
    } catch (error) {
      this.#options.log.error({ err: error }, 'the statements that are due could not be looked at; trying again');
      isDone = false;
    }
    return { isDone, nextMs };
  }

  /** Accounts with a row, in order of their ids, some at a time. */
  async *#dueAccounts(): AsyncGenerator<readonly string[]> {
    let accounts: string[] = [];
    let last: string | undefined;
    for await (const [[account = '']] of statementDueTable.under(this.#options.store, [])) {
      if (account === last) continue;
      last = account;
      if (accounts.length === TOGETHER) {
        yield accounts;
        accounts = [];
      }
      accounts.push(account);
    }
    if (accounts.length > 0) yield accounts;
  }

  /** How soon the account is to be looked at again, in milliseconds; null where a version could not be recorded. */
  async #publish(id: string): Promise<number | null> {
    const { store, accountStore, record, log } = this.#options;
    try {
      const due = await accountStore.look(() => this.#due(id));
      const newest = await newestVersion(store, id, accountStore.node);
      // Whenever the next version is made, a key that was refused ends here at once. That makes the account due again.
      const named = due.account?.nodes ?? [];
      if (await endRefusedKeys(accountStore, store, id, [...new Set([...named, ...(newest?.nodes ?? [])])])) return 0;
      const wait = this.#pace.wait(id);
      if (wait > 0) return wait;
      if (due.rows.length === 0 || (await this.#isOutdated(id, newest))) return LOOK_MS;
      const { rows, account, keys, isChanged } = due;
      if (account === undefined || !isChanged || !isStated(account, newest, accountStore.node)) {
        await store.write(rows);
        return LOOK_MS;
      }
      const version = (newest?.version ?? 0) + 1;
      const draft = statementDraft({ home: accountStore.node, account, keys, version, now: accountStore.now() });
      await record({ ...draft, besides: () => [...rows, statedVersionTable.put([id], version)] });
      this.#pace.note(id);
      return LOOK_MS;
    } catch (error) {
      log.error({ err: error, account: id }, 'the statement of an account was not recorded; trying again');
      return null;
    }
  }

  /**
   * Read together, and before all else: what comes later, a change or a refusal, has a row that is not among these and
   * so stays due.
   */
  async #due(id: string): Promise<Due> {
    const { store, accountStore } = this.#options;
    const rows: Operation[] = [];
    let isChanged = false;
    for await (const [[name = ''], cause] of statementDueTable.under(store, [id])) {
      rows.push(statementDueTable.del(id, name));
      isChanged ||= cause === 'changed';
    }
    return { isChanged, rows, account: await accountStore.account(id), keys: await accountStore.keys(id) };
  }

  async #isOutdated(id: string, newest: AccountVersion | undefined): Promise<boolean> {
    const { store, log } = this.#options;
    const marked = (await statedVersionTable.get(store, id)) ?? 0;
    const isOutdated = newest !== undefined && newest.version > marked;
    if (!isOutdated) this.#held.delete(id);
    else if (!this.#held.has(id)) {
      this.#held.add(id);
      log.error(
        { account: id, version: newest.version, rows: marked },
        'THE KEYS OF AN ACCOUNT ARE THOSE OF AN OLDER COPY: no statement of it is made before `npm run key -- restate`',
      );
    }
    return isOutdated;
  }
}

/** Whether an account of this home has anything to state: it names another node, or its last version did. */
function isStated(account: Account, newest: AccountVersion | undefined, home: NodeId): boolean {
  if (homeOf(account.id) !== home) return false;
  return namesOthers(home, account.nodes) || namesOthers(home, newest?.nodes);
}

/** Of records of other nodes, those by which one refuses a key of an account of this home. */
function refusalsAmong(home: NodeId, records: readonly AttestationRecord[]): readonly AttestationRecord[] {
  return records.filter(({ kind, account }) => kind === 'account_key_refused' && homeOf(account) === home);
}

/** The rows by which such records are looked at, for their own write. */
function refusalOperations(refusals: readonly AttestationRecord[]): readonly Operation[] {
  return refusals.map(({ account, submittedAt }) => dueOperation(account, 'refused', Date.parse(submittedAt)));
}

/**
 * Ends the keys of an account that a node which has a say in it has refused (protocol §5). Like any other change it is
 * recorded, and makes the account's statement due. Resolves to whether there was any.
 */
function endRefusedKeys(
  accountStore: Pick<AccountStore, 'change' | 'keys' | 'now'>,
  store: Reads,
  account: string,
  nodes: readonly NodeId[],
): Promise<boolean> {
  return accountStore.change(async () => {
    const now = accountStore.now();
    const refused: HeldKey[] = [];
    for (const held of await accountStore.keys(account)) {
      if (keyState(held.key, now) !== 'active') continue;
      if ((await refusalOf(store, account, held.key.id, nodes)) !== undefined) refused.push(held);
    }
    const revokedAt = timestampOf(now);
    return {
      operations: refused.flatMap(({ digest, key }) => keyOperations(digest, { ...key, revokedAt })),
      events: refused.map(({ key }) => keyEvent('key.revoked', key, 'node')),
      result: refused.length > 0,
    };
  });
}
