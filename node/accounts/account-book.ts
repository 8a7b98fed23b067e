import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { Lanes } from '../lanes.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { type Account, accountTable } from './account.ts';
import { AccountError } from './account-error.ts';
import type { AccountEvent } from './account-event.ts';
import { accountKeyTable, type ApiKey, apiKeyTable } from './api-key.ts';
import { KeyUses } from './key-uses.ts';
import { type AuthenticatedKey, type Authentication, KnownKeys } from './known-keys.ts';
import { emailDigest } from './sign-up/email-address.ts';
import { signUpTable } from './sign-up/sign-up-table.ts';

export interface AccountBookOptions {
  readonly store: Store;
  /** This node: its id is part of the ids of keys made here. */
  readonly node: NodeId;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /**
   * Writes the rows of a change together with its events in the audit log: all or nothing. Without it the rows are
   * written alone.
   */
  readonly record?: RecordChange;
  readonly log?: Logger;
}

type RecordChange = (events: AccountEvents, operations: readonly Operation[]) => Promise<void>;
/** Of one change, in their order: all of one account. */
export type AccountEvents = readonly [AccountEvent, ...AccountEvent[]];

/** A key and the digest that its row stands under. */
export interface HeldKey {
  readonly digest: string;
  readonly key: ApiKey;
}

/** What a change comes to, worked out while no other is under way. */
export interface Change<Result> {
  readonly operations: readonly Operation[];
  readonly events: readonly AccountEvent[];
  readonly result: Result;
}

/**
 * The rows of accounts and keys, and what is remembered of them. Every change goes through `change`, one after another.
 *
 * Crash order: the rows land with their events, in one atomic write, so nothing is ever in effect that was not recorded,
 * or recorded that is not in effect.
 */
export class AccountBook implements AsyncDisposable {
  readonly node: NodeId;
  readonly now: () => number;
  readonly #store: Store;
  readonly #record: RecordChange;
  readonly #lane = new Lanes<'accounts'>();
  readonly #uses: KeyUses;
  readonly #known: KnownKeys;

  constructor({ store, node, now, record, log }: AccountBookOptions) {
    this.node = node;
    this.now = now;
    this.#store = store;
    this.#record = record ?? ((_events, operations) => store.write(operations));
    this.#uses = new KeyUses({
      store,
      alone: (work) => this.#lane.exclusive('accounts', work),
      onFailure: (error) => log?.warn({ err: error }, 'the day of a use of an API key was not written'),
    });
    this.#known = new KnownKeys(store, now, (digest, day) => this.#uses.note(digest, day));
  }

  authenticate(apiKey: string): Promise<Authentication> {
    return this.#known.authenticate(apiKey);
  }

  peek(apiKey: string): AuthenticatedKey | undefined {
    return this.#known.peek(apiKey);
  }

  /** Works out a change alone, records and makes it, and lets nothing that was remembered outlive it. */
  change<Result>(work: () => Promise<Change<Result>>): Promise<Result> {
    return this.#lane.exclusive('accounts', async () => {
      const { operations, events, result } = await work();
      await this.#commit(events, operations);
      if (operations.length > 0) this.#known.forget();
      return result;
    });
  }

  /** Reads while no change and no note of a use is under way. */
  look<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#lane.exclusive('accounts', work);
  }

  /** Accounts in order of their ids, after a given one. */
  async accounts(limit: number, after?: string): Promise<Account[]> {
    // From there on rather than after it: the rows after `a` are not those after everything that starts with `a`.
    const options = after === undefined ? { limit } : { from: after, limit: limit + 1 };
    const accounts = await Array.fromAsync(accountTable.under(this.#store, [], options), ([, account]) => account);
    return accounts.filter(({ id }) => id !== after).slice(0, limit);
  }

  account(id: string): Promise<Account | undefined> {
    return accountTable.get(this.#store, id);
  }

  /** Throws `AccountError` `account-not-found`. */
  async requireAccount(id: string): Promise<Account> {
    const account = await this.account(id);
    if (account === undefined) throw new AccountError('account-not-found', `there is no account ${id}`);
    return account;
  }

  /** The row that leads from an address to the first account that has it; none where another had it before. */
  async firstOfAddress({ id, email }: Account): Promise<Operation[]> {
    if (email === undefined) return [];
    const digest = emailDigest(email);
    const first = await signUpTable.get(this.#store, digest);
    return first === undefined ? [signUpTable.put([digest], id)] : [];
  }

  /** The key whose text has this digest, of whichever account. */
  keyOfDigest(digest: string): Promise<ApiKey | undefined> {
    return apiKeyTable.get(this.#store, digest);
  }

  /** A key of an account by its id. */
  async findKey(account: string, id: string): Promise<HeldKey | undefined> {
    const digest = await accountKeyTable.get(this.#store, account, id);
    const key = digest === undefined ? undefined : await this.keyOfDigest(digest);
    return digest === undefined || key === undefined ? undefined : { digest, key };
  }

  /** The same. Throws `AccountError` `key-not-found`. */
  async requireKey(account: string, id: string): Promise<HeldKey> {
    const held = await this.findKey(account, id);
    if (held === undefined) throw new AccountError('key-not-found', `the account has no key ${id}`);
    return held;
  }

  /** All keys of an account, oldest first. Few: see `MAX_KEYS`. */
  async keys(account: string): Promise<HeldKey[]> {
    const held: HeldKey[] = [];
    for await (const [, digest] of accountKeyTable.under(this.#store, [account])) {
      const key = await this.keyOfDigest(digest);
      if (key !== undefined) held.push({ digest, key });
    }
    return held.sort((a, b) => Date.parse(a.key.createdAt) - Date.parse(b.key.createdAt));
  }

  /** Whether a key was ever used, uses that wait to be written included. Asked within `change` or `look`. */
  wasUsed({ digest, key }: HeldKey): boolean {
    return key.lastUsedDay !== null || this.#uses.has(digest);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#uses[Symbol.asyncDispose]();
  }

  async #commit(events: readonly AccountEvent[], operations: readonly Operation[]): Promise<void> {
    const [first, ...others] = events;
    if (first !== undefined) await this.#record([first, ...others], operations);
    else if (operations.length > 0) await this.#store.write(operations);
  }
}
