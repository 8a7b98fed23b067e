import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import { type Account, accountTable, isAccount, newAccountId, type Tier } from './account.ts';
import { AccountStore, type AccountStoreOptions } from './account-store.ts';
import { AccountError } from './account-error.ts';
import { AccountNodes, keptNodes, nodesMember } from './account-nodes.ts';
import {
  accountCreated,
  type AccountEvent,
  compressionChanged,
  keyEvent,
  nodesChanged,
  tierChanged,
} from './account-event.ts';
import { ADMIN_TERMS, freshKey, keyOperations } from './api-key.ts';
import { ApiKeys, requireStrong } from './api-keys.ts';
import { newKeyId } from './key-id.ts';
import { keyDigest } from './key-text.ts';
import type { AuthenticatedKey, Authentication } from './known-keys.ts';

export { type Account, type Tier, TIERS } from './account.ts';
export { AccountError } from './account-error.ts';
export type { AccountEvent } from './account-event.ts';
export type { Authentication } from './known-keys.ts';

/** What an operator says of a new account. Without an id it gets a fresh one, with this node as its home. */
export interface NewAccount {
  readonly id?: string;
  readonly tier: Tier;
  readonly name?: string;
  readonly email?: string;
  readonly compressPayloads?: boolean;
  /** The nodes that its keys work at; left out: this one alone. */
  readonly nodes?: readonly NodeId[];
}

/** Callers of the key-authenticated API: who they are, and by which keys they come. */
export class Accounts implements AsyncDisposable {
  readonly keys: ApiKeys;
  readonly nodes: AccountNodes;
  /** The rows beneath, for changes that touch more than accounts and keys. */
  readonly accountStore: AccountStore;

  private constructor(accountStore: AccountStore) {
    this.accountStore = accountStore;
    this.keys = new ApiKeys(accountStore);
    this.nodes = new AccountNodes(accountStore);
  }

  static async open(options: AccountStoreOptions): Promise<Accounts> {
    return new Accounts(new AccountStore(options));
  }

  /** Whose key this is. A few microseconds for a key seen before. */
  authenticate(apiKey: string): Promise<Authentication> {
    return this.accountStore.authenticate(apiKey);
  }

  /** Whose a key was when it was last read; undefined where it was not in force, or never seen. Lets nobody in. */
  peek(apiKey: string): AuthenticatedKey | undefined {
    return this.accountStore.peek(apiKey);
  }

  /** Makes an account, for an operator. The very same one is answered as it is. Throws `AccountError`. */
  create({ id = newAccountId(this.accountStore.node), ...asked }: NewAccount): Promise<Account> {
    return this.accountStore.change(async () => {
      const account = this.#newAccount(id, asked);
      const known = await this.accountStore.account(id);
      if (known !== undefined) {
        if (isSame(known, account)) return { operations: [], events: [], result: known };
        throw new AccountError('account-exists', `there is an account ${id} already`, 'id');
      }
      const { nodes } = account;
      return {
        operations: [accountTable.put([id], account), ...(await this.accountStore.firstOfAddress(account))],
        events: [accountCreated(id, 'operator'), ...(nodes === undefined ? [] : [nodesChanged(id, nodes, 'operator')])],
        nodes,
        result: account,
      };
    });
  }

  /** Puts an account into another tier, for all its keys at once. Throws `AccountError` `account-not-found`. */
  setTier(id: string, tier: Tier): Promise<Account> {
    return this.accountStore.change(async () => {
      const account = await this.accountStore.requireAccount(id);
      if (account.tier === tier) return { operations: [], events: [], result: account };
      const changed = { ...account, tier };
      return { operations: [accountTable.put([id], changed)], events: [tierChanged(changed)], result: changed };
    });
  }

  /**
   * Whether the payloads that an account records from now on are compressed. Throws `AccountError` `account-not-found`.
   */
  setCompression(id: string, compressPayloads: boolean): Promise<Account> {
    return this.accountStore.change(async () => {
      const account = await this.accountStore.requireAccount(id);
      if ((account.compressPayloads ?? false) === compressPayloads) {
        return { operations: [], events: [], result: account };
      }
      const changed = { ...account, compressPayloads };
      const events = [compressionChanged(changed, 'operator')];
      return { operations: [accountTable.put([id], changed)], events, result: changed };
    });
  }

  /** As it is asked for, made now. Throws `AccountError`. */
  #newAccount(
    id: string,
    { tier, name, email, compressPayloads = false, nodes: asked }: Omit<NewAccount, 'id'>,
  ): Account {
    const nodes = keptNodes(asked, this.accountStore);
    if (nodes !== undefined && homeOf(id) !== this.accountStore.node) {
      throw new AccountError('nodes-invalid', `the home of ${id} is another node`, 'nodes');
    }
    return requireWellFormed({
      id,
      tier,
      ...(name === undefined ? {} : { name }),
      ...(email === undefined ? {} : { email }),
      createdAt: timestampOf(this.accountStore.now()),
      ...(compressPayloads ? { compressPayloads } : {}),
      ...nodesMember(nodes),
    });
  }

  /**
   * Sees to it that an account of this tier exists and has this key, which may do everything. A key that it has stays
   * as it is, also a revoked one. Throws `AccountError` on a weak key, a bad account, or a key of another account.
   */
  async grant({ id, tier }: Pick<Account, 'id' | 'tier'>, apiKey: string): Promise<void> {
    requireStrong(apiKey);
    await this.accountStore.change(async () => {
      const at = timestampOf(this.accountStore.now());
      const known = await this.accountStore.account(id);
      const account = requireWellFormed(known === undefined ? { id, tier, createdAt: at } : { ...known, tier });
      const digest = keyDigest(apiKey);
      const key = await this.accountStore.keyOfDigest(digest);
      if (key !== undefined && key.account !== id) {
        throw new AccountError('key-exists', 'the key belongs to another account', 'apiKey');
      }
      const events: AccountEvent[] = [];
      if (known === undefined) events.push(accountCreated(id, 'operator'));
      else if (known.tier !== tier) events.push(tierChanged(account));
      const operations = events.length === 0 ? [] : [accountTable.put([id], account)];
      if (key === undefined) {
        const granted = freshKey(newKeyId(this.accountStore.node, this.accountStore.now()), id, ADMIN_TERMS, at);
        operations.push(...keyOperations(digest, granted));
        events.push(keyEvent('key.created', granted, 'operator'));
      }
      return { operations, events, result: undefined };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.accountStore[Symbol.asyncDispose]();
  }
}

/** Whether what is asked for is what is there, whenever it was made. */
function isSame(known: Account, asked: Account): boolean {
  const terms = ({ tier, name, email, compressPayloads = false, nodes = [] }: Account) =>
    JSON.stringify([tier, name, email, compressPayloads, nodes]);
  return terms(known) === terms(asked);
}

function requireWellFormed(account: Account): Account {
  if (isAccount(account)) return account;
  throw new AccountError('account-malformed', 'the account is malformed');
}
