import type { Logger } from 'pino';
import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import { AccountError } from './account-error.ts';
import { type AccountEvent, type Actor, changesStatement } from './account-event.ts';
import { type Account, accountTable } from './account.ts';
import { accountKeyTable, type ApiKey, apiKeyTable, keyState, type KeyTerms } from './api-key.ts';
import {
  type AuthenticatedKey,
  type Authentication,
  type ForeignKeys,
  type KeyInForce,
  KnownKeys,
} from './known-keys.ts';
import { emailDigest } from './mail/mail-address.ts';
import { type AccountVersion, dueOperation, namesOthers, newestVersion } from './statements/statement-tables.ts';

/** (digest of an e-mail address) → id of the first account that has it, by signing up or from the operator. */
export const signUpTable = new Table('sign-up', textCodec);

interface KeyUsesOptions {
  readonly store: Store;
  /** Runs work while no other change of accounts or keys is under way. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  /** Told of a write that failed; what it held is tried again with the next use that is noted. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Writes the day of each key's last use, off the path of the request: one small write for all that arrived meanwhile.
 */
class KeyUses implements AsyncDisposable {
  readonly #options: KeyUsesOptions;
  /** Digest → day, until it is on the disk. */
  readonly #waiting = new Map<string, string>();
  #writing: Promise<void> | undefined;

  constructor(options: KeyUsesOptions) {
    this.#options = options;
  }

  /** Notes a use on a UTC day. Called at most once a key and day, and again after the key's row was read again. */
  note(digest: string, day: string): void {
    this.#waiting.set(digest, day);
    this.#writing ??= this.#write();
  }

  /** Whether a use of the key waits to be written. */
  has(digest: string): boolean {
    return this.#waiting.has(digest);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.size > 0) await this.#options.alone(() => this.#writeWaiting([...this.#waiting]));
    } catch (error) {
      this.#options.onFailure(error);
    } finally {
      this.#writing = undefined;
    }
  }

  async #writeWaiting(uses: readonly (readonly [digest: string, day: string])[]): Promise<void> {
    const { store } = this.#options;
    const operations: Operation[] = [];
    for (const [digest, day] of uses) {
      const key = await apiKeyTable.get(store, digest);
      if (key === undefined || (key.lastUsedDay ?? '') >= day) continue;
      operations.push(apiKeyTable.put([digest], { ...key, lastUsedDay: day }));
    }
    await store.write(operations);
    for (const [digest, day] of uses) if (this.#waiting.get(digest) === day) this.#waiting.delete(digest);
  }
}

export interface AccountStoreOptions {
  readonly store: Store;
  /** This node: its id is part of the ids of keys made here. */
  readonly node: NodeId;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Whether a node is a member of the roster in force. Default: this node alone is. */
  readonly isMember?: (node: NodeId) => boolean;
  /**
   * Writes the rows of a change together with its events in the audit log: all or nothing. Without it the rows are
   * written alone.
   */
  readonly record?: RecordChange;
  /** Keys of accounts whose home is another node. Default: there are none. */
  readonly foreign?: ForeignKeys;
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
  /** Nodes that the account names from now on, where the change says which. */
  readonly nodes?: readonly NodeId[] | undefined;
  readonly result: Result;
}

/**
 * The rows of accounts and keys, and what is remembered of them. Every change goes through `change`, one after another.
 *
 * Crash order: the rows land with their events, in one atomic write, so nothing is ever in effect that was not
 * recorded, or recorded that is not in effect. So does the row by which the account's statement is due, where another
 * node is named.
 */
export class AccountStore implements AsyncDisposable {
  readonly node: NodeId;
  readonly now: () => number;
  /** Whether a node is a member of the roster in force. */
  readonly isMember: (node: NodeId) => boolean;
  readonly #store: Store;
  readonly #record: RecordChange;
  readonly #lock = new KeyedLock<'accounts'>();
  readonly #uses: KeyUses;
  readonly #known: KnownKeys;
  readonly #dueListeners = new Set<() => void>();

  constructor({ store, node, now, isMember, record, foreign, log }: AccountStoreOptions) {
    this.node = node;
    this.now = now;
    this.isMember = isMember ?? ((other) => other === node);
    this.#store = store;
    this.#record = record ?? ((_events, operations) => store.write(operations));
    this.#uses = new KeyUses({
      store,
      alone: (work) => this.#lock.exclusive('accounts', work),
      onFailure: (error) => log?.warn({ err: error }, 'the day of a use of an API key was not written'),
    });
    this.#known = new KnownKeys(store, now, (digest, day) => this.#uses.note(digest, day), foreign);
  }

  authenticate(apiKey: string): Promise<Authentication> {
    return this.#known.authenticate(apiKey);
  }

  peek(apiKey: string): AuthenticatedKey | undefined {
    return this.#known.peek(apiKey);
  }

  /** Who a key of an account is, where it is in force now. Always read from the store. */
  keyInForce(account: string, id: string): Promise<KeyInForce | undefined> {
    return this.#known.inForce(account, id);
  }

  /** What is known of keys of other nodes' accounts may have changed: whatever is asked from now on is read again. */
  forgetKeys(): void {
    this.#known.forget();
  }

  /** Works out a change alone, records and makes it, and lets nothing that was remembered outlive it. */
  change<Result>(work: () => Promise<Change<Result>>): Promise<Result> {
    return this.#lock.exclusive('accounts', async () => {
      const { operations, events, nodes, result } = await work();
      const due = await this.#dueRows(events, nodes);
      await this.#commit(events, [...operations, ...due]);
      if (operations.length > 0) this.#known.forget();
      if (due.length > 0) for (const listener of this.#dueListeners) listener();
      return result;
    });
  }

  /** Calls `listener` whenever an account's statement became due. Returns what ends that. */
  onStatementDue(listener: () => void): () => void {
    this.#dueListeners.add(listener);
    return () => this.#dueListeners.delete(listener);
  }

  /** Reads while no change and no note of a use is under way. */
  look<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#lock.exclusive('accounts', work);
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

  /** The newest version of the statement of an account that lives here. */
  newestVersion(id: string): Promise<AccountVersion | undefined> {
    return newestVersion(this.#store, id, this.node);
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

  /** All keys of an account, oldest first. Few: see `spaceFor`. */
  async keys(account: string): Promise<HeldKey[]> {
    const held: HeldKey[] = [];
    for await (const [, digest] of accountKeyTable.under(this.#store, [account])) {
      const key = await this.keyOfDigest(digest);
      if (key !== undefined) held.push({ digest, key });
    }
    return held.sort((a, b) => Date.parse(a.key.createdAt) - Date.parse(b.key.createdAt));
  }

  /**
   * The terms of the key that asks, as they are now; null where no key asks. Throws `AccountError` `key-not-found`,
   * `maker-ended`.
   */
  async makerOf(account: string, actor: Actor): Promise<KeyTerms | null> {
    if (typeof actor === 'string') return null;
    const { key } = await this.requireKey(account, actor.key);
    if (keyState(key, this.now()) === 'active') return key;
    throw new AccountError('maker-ended', 'the API key was revoked or has expired');
  }

  /** Whether a key was ever used, uses that wait to be written included. Asked within `change` or `look`. */
  wasUsed({ digest, key }: HeldKey): boolean {
    return key.lastUsedDay !== null || this.#uses.has(digest);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#uses[Symbol.asyncDispose]();
  }

  /**
   * Where a change is one of what a statement says, of an account that lives here and named, or names, another node.
   */
  async #dueRows(events: readonly AccountEvent[], nodes: readonly NodeId[] | undefined): Promise<Operation[]> {
    const account = events.find(changesStatement)?.account;
    if (account === undefined || homeOf(account) !== this.node) return [];
    const before = (await this.account(account))?.nodes;
    // The rows of a restored copy may not know of what its chain says.
    const stated = (await this.newestVersion(account))?.nodes;
    const isStated = [before, nodes, stated].some((named) => namesOthers(this.node, named));
    return isStated ? [dueOperation(account, 'changed', this.now())] : [];
  }

  async #commit(events: readonly AccountEvent[], operations: readonly Operation[]): Promise<void> {
    const [first, ...others] = events;
    if (first !== undefined) await this.#record([first, ...others], operations);
    else if (operations.length > 0) await this.#store.write(operations);
  }
}
