import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { AccountError } from './account-error.ts';
import { type Actor, nodesChanged, statementRestated } from './account-event.ts';
import type { AccountStore, Change } from './account-store.ts';
import { type Account, accountTable } from './account.ts';
import { requireStatable } from './statements/statement-draft.ts';
import { statedVersionTable } from './statements/statement-tables.ts';

/**
 * The nodes that an account is to name, as they are kept: in order of their ids, or undefined for the home alone.
 * Throws `AccountError` `nodes-invalid` where this node is not among them, or one is no member.
 */
export function keptNodes(
  asked: readonly NodeId[] | undefined,
  { node, isMember }: Pick<AccountStore, 'isMember' | 'node'>,
): NodeId[] | undefined {
  const nodes = [...new Set(asked ?? [node])].sort();
  if (!nodes.includes(node)) throw new AccountError('nodes-invalid', `lacks ${node}, the home of the account`, 'nodes');
  const strangers = nodes.filter((other) => other !== node && !isMember(other));
  if (strangers.length > 0) {
    throw new AccountError(
      'nodes-invalid',
      `names ${strangers.join(', ')}, which is no member of the federation`,
      'nodes',
    );
  }
  return nodes.length === 1 ? undefined : nodes;
}

/** The member of an account's row. */
export function nodesMember(nodes: NodeId[] | undefined): Pick<Account, 'nodes'> {
  return nodes === undefined ? {} : { nodes };
}

/** Where the keys of accounts work: an account's home gives them to the nodes that it names (protocol §5). */
export class AccountNodes {
  readonly #accountStore: AccountStore;

  constructor(accountStore: AccountStore) {
    this.#accountStore = accountStore;
  }

  /**
   * Puts these in the place of the nodes that an account names. The same ones change nothing. Throws `AccountError`:
   * `account-not-found`, `not-home`, `nodes-invalid`, `beyond-maker` where the key that asks is limited to
   * sources or to a period, `too-many-keys` where the account's keys make a statement that is too long.
   */
  set(id: string, asked: readonly NodeId[], actor: Actor): Promise<Account> {
    const accountStore = this.#accountStore;
    return accountStore.change(async () => {
      if (homeOf(id) !== accountStore.node) throw new AccountError('not-home', `the home of ${id} is another node`);
      const account = await accountStore.requireAccount(id);
      const maker = await accountStore.makerOf(id, actor);
      const { sources = null, from = null, to = null } = maker ?? {};
      if (sources !== null || from !== null || to !== null) {
        throw new AccountError('beyond-maker', 'the key that asks does not reach all records of the account');
      }
      return this.#change(account, keptNodes(asked, accountStore), actor);
    });
  }

  /**
   * An operator's word that the rows of an account are right, though the chain has a newer version than they were
   * published as: the next version is made of them. Throws `AccountError` `account-not-found`, `not-home`.
   */
  restate(id: string): Promise<Account> {
    const accountStore = this.#accountStore;
    return accountStore.change(async () => {
      if (homeOf(id) !== accountStore.node) throw new AccountError('not-home', `the home of ${id} is another node`);
      const account = await accountStore.requireAccount(id);
      const newest = await accountStore.newestVersion(id);
      if (newest === undefined) return { operations: [], events: [], result: account };
      return {
        operations: [statedVersionTable.put([id], newest.version)],
        events: [statementRestated(id, newest.version)],
        result: account,
      };
    });
  }

  async #change(account: Account, kept: NodeId[] | undefined, actor: Actor): Promise<Change<Account>> {
    const { node: home, now } = this.#accountStore;
    const { nodes: before = [home], ...rest } = account;
    const nodes = kept ?? [home];
    const isSame = nodes.length === before.length && nodes.every((node, i) => node === before[i]);
    if (isSame) return { operations: [], events: [], result: account };
    const changed: Account = { ...rest, ...nodesMember(kept) };
    requireStatable({ home, account: changed, keys: await this.#accountStore.keys(account.id), now: now() });
    const events = [nodesChanged(account.id, nodes, actor)];
    return { operations: [accountTable.put([account.id], changed)], events, nodes, result: changed };
  }
}
