import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeId, type NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { AccountError, type AccountEvent, Accounts } from '../../../node/accounts/accounts.ts';
import type { AccountEvents } from '../../../node/accounts/account-store.ts';
import type { AccountErrorCode } from '../../../node/accounts/account-error.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { Store } from '../../../node/store/store.ts';

export const EU = nodeId('eu');
export const START = Date.UTC(2026, 10, 21, 9, 30);
export const US = nodeId('us');
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Accounts on a store of their own, with a clock that a test moves, and all that was told of changes. */
export class AccountFixture implements AsyncDisposable {
  readonly store: Store;
  readonly directory: string;
  readonly events: AccountEvent[] = [];
  now = START;
  /** Called with every change before it is written. */
  onRecord: (events: AccountEvents) => Promise<void> = async () => {};
  readonly #opened: Accounts[] = [];

  private constructor(store: Store, directory: string) {
    this.store = store;
    this.directory = directory;
  }

  /** The accounts as they were opened last. */
  get accounts(): Accounts {
    const last = this.#opened.at(-1);
    if (last === undefined) throw new Error('no accounts are open');
    return last;
  }

  static async open(): Promise<AccountFixture> {
    const directory = await mkdtemp(join(tmpdir(), 'accounts-'));
    const store = await Store.open(directory);
    const fixture = new AccountFixture(store, directory);
    await fixture.reopen();
    return fixture;
  }

  /** Opens the accounts of the store, as a restart does. */
  async reopen(): Promise<void> {
    const record = async (events: AccountEvents, operations: readonly Operation[]) => {
      await this.onRecord(events);
      this.events.push(...events);
      await this.store.write(operations);
    };
    const isMember = (node: NodeId): boolean => node === EU || node === US;
    await this.#opened.at(-1)?.[Symbol.asyncDispose]();
    this.#opened.push(await Accounts.open({ store: this.store, node: EU, now: () => this.now, isMember, record }));
  }

  at(milliseconds: number): string {
    return timestampOf(this.now + milliseconds);
  }

  /** All rows of the store, as text. */
  async rows(): Promise<string[]> {
    const rows = await Array.fromAsync(this.store.range({}));
    return rows.map(([key, value]) => `${key} ${Buffer.from(value).toString()}`);
  }

  /** All bytes of the store's files. */
  async bytes(): Promise<Buffer> {
    const files = await readdir(this.directory);
    return Buffer.concat(await Promise.all(files.map((name) => readFile(join(this.directory, name)))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.accounts[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** The refusal of a change. Throws where it was made. */
export async function refusal(change: Promise<unknown>): Promise<AccountErrorCode> {
  return (await refused(change)).code;
}

export async function refused(change: Promise<unknown>): Promise<AccountError> {
  try {
    await change;
  } catch (error) {
    if (error instanceof AccountError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
