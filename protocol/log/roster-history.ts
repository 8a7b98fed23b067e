import type { Sha256Hash } from '../hash.ts';
import type { EntityId, NodeId } from '../ids.ts';
import type { Suite } from '../suite/suite.ts';
import { identityKeyId, type KnownOperator, type RosterFacts } from './roster-rules.ts';
import type { Roster } from './roster.ts';

/**
 * The facts of rosters that follow each other, taken one by one: what `DecisionState` holds of them, without a copy a
 * roster, so that a chain which somebody else made costs as much as it is long.
 *
 * Ownership: anyone who makes one alone adds to it, and gives it to others when it is whole.
 */
export class RosterHistory implements RosterFacts {
  readonly ledger: Roster['ledger'];
  version = 0;
  hash: Sha256Hash;
  readonly #nodes = new Map<NodeId, KnownOperator>();
  readonly #accounts = new Map<EntityId, NodeId>();
  readonly #identityKeys = new Map<Sha256Hash, NodeId>();

  constructor(suite: Pick<Suite, 'sha256Hex'>, genesis: Roster, hash: Sha256Hash) {
    this.ledger = genesis.ledger;
    this.hash = hash;
    this.add(suite, genesis, hash);
  }

  get nodes(): number {
    return this.#nodes.size;
  }

  known(node: NodeId): KnownOperator | undefined {
    return this.#nodes.get(node);
  }

  ownerOfAccount(account: EntityId): NodeId | undefined {
    return this.#accounts.get(account);
  }

  ownerOfIdentityKey(keyId: Sha256Hash): NodeId | undefined {
    return this.#identityKeys.get(keyId);
  }

  /** Takes a roster that follows the last one. */
  add(suite: Pick<Suite, 'sha256Hex'>, { version, members }: Roster, hash: Sha256Hash): void {
    this.version = version;
    this.hash = hash;
    for (const member of members) {
      const { node, accounts } = member;
      const keyId = identityKeyId(suite, member);
      const before = this.#nodes.get(node)?.identityKeys ?? [];
      this.#nodes.set(node, { accounts, identityKeys: [...before.filter((key) => key !== keyId), keyId] });
      this.#identityKeys.set(keyId, node);
      for (const account of accounts) this.#accounts.set(account, node);
    }
  }
}
