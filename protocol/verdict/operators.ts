import type { EntityId, NodeId } from '../ids.ts';
import type { Member, Roster } from '../log/roster.ts';
import { RosterLineError } from './roster-links.ts';

/**
 * Who the members of the rosters so far are. A roster by which an account passes to another member, or a node id to another
 * operator, never comes into force (TRUST §2).
 */
export class Operators {
  readonly #owners = new Map<EntityId, NodeId>();
  /** Each node as the last roster that names it has it. */
  readonly #members = new Map<NodeId, Member>();

  /** Takes the next roster. Throws `RosterLineError` where it breaks the rule. */
  follow({ members }: Roster): void {
    for (const member of members) this.#requireSame(member);
    for (const member of members) {
      this.#members.set(member.node, member);
      for (const account of member.accounts) this.#owners.set(account, member.node);
    }
  }

  #requireSame({ node, accounts, identityKey }: Member): void {
    for (const account of accounts) {
      const owner = this.#owners.get(account) ?? node;
      if (owner !== node) throw new RosterLineError(`the account ${account} is that of ${owner}`);
    }
    const before = this.#members.get(node);
    if (before === undefined || before.identityKey === identityKey) return;
    if (accounts.some((account) => before.accounts.includes(account))) return;
    throw new RosterLineError(`${node} keeps neither its identity key nor an account`);
  }
}
