import { isPolicyId, type PolicyId, type PolicyRequest } from '../../../protocol/api/oversight.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { ComplianceError } from '../compliance-error.ts';
import { newPolicyId, type Policy, policyTable, type Waiting, waitingTable } from './oversight-tables.ts';

/** Policies of one account. */
export const MAX_POLICIES = 20;
/** Operations after which a write is full. */
const WRITE_OPERATIONS = 1_024;

export interface PoliciesOptions {
  readonly store: Store;
  readonly node: NodeId;
  readonly auditLog: Pick<AuditLog, 'recordWith'>;
  readonly now: () => number;
}

/** What people of accounts have to look at. All policies are in memory too, for every decision is held against them. */
export class Policies {
  readonly #options: PoliciesOptions;
  readonly #locks = new KeyedLock<string>();
  readonly #byAccount = new Map<string, Map<PolicyId, Policy>>();

  private constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  static async open(options: PoliciesOptions): Promise<Policies> {
    const policies = new Policies(options);
    for await (const [, policy] of policyTable.under(options.store, [])) policies.#remember(policy);
    return policies;
  }

  /** Those of an account, oldest first. */
  list(account: string): readonly Policy[] {
    return [...(this.#byAccount.get(account)?.values() ?? [])];
  }

  /** When the oldest policy of any account was made (epoch milliseconds); undefined where there is none. */
  get since(): number | undefined {
    const policies = this.#byAccount.values().flatMap((own) => own.values());
    const times = [...policies].map(({ createdAt }) => Date.parse(createdAt));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Throws `ComplianceError` `too-many-policies`. */
  create(account: string, { name, when, persons = 1 }: PolicyRequest, by: string): Promise<Policy> {
    const { node, now } = this.#options;
    return this.#locks.exclusive(account, async () => {
      if (this.list(account).length >= MAX_POLICIES) {
        throw new ComplianceError('too-many-policies', 'name', `an account has at most ${MAX_POLICIES} policies`);
      }
      const id = newPolicyId(node, now());
      const policy: Policy = { id, account, name, when, persons, createdAt: timestampOf(now()) };
      await this.#record(policy, 'oversight-policy.created', by, [policyTable.put([account, id], policy)]);
      this.#remember(policy);
      return policy;
    });
  }

  /** Ends a policy: nobody has to look at a decision by it any more. Throws `ComplianceError` `policy-not-found`. */
  delete(account: string, id: string, by: string): Promise<void> {
    return this.#locks.exclusive(account, async () => {
      const policy = isPolicyId(id) ? this.#byAccount.get(account)?.get(id) : undefined;
      if (policy === undefined) {
        throw new ComplianceError('policy-not-found', 'id', 'there is no policy of this id');
      }
      await this.#record(policy, 'oversight-policy.deleted', by, [policyTable.del(account, policy.id)]);
      this.#forget(policy);
      await this.#release(policy);
    });
  }

  /**
   * A decision that waits by policies that are still there; undefined where there are none of them. A deletion that a
   * crash cut off leaves rows that name it.
   */
  still(account: string, waiting: Waiting): Waiting | undefined {
    const own = this.#byAccount.get(account);
    const policies = waiting.policies.flatMap((id) => own?.get(id) ?? []);
    if (policies.length === 0) return undefined;
    return { ...waiting, policies: policies.map(({ id }) => id), persons: personsOf(policies) };
  }

  async #release(policy: Policy): Promise<void> {
    const { store } = this.#options;
    const { account } = policy;
    let operations: Operation[] = [];
    for await (const [[seq = ''], waiting] of waitingTable.under(store, [account])) {
      if (!waiting.policies.includes(policy.id)) continue;
      const rest = this.still(account, waiting);
      operations.push(
        rest === undefined ? waitingTable.del(account, Number(seq)) : waitingTable.put([account, Number(seq)], rest),
      );
      if (operations.length < WRITE_OPERATIONS) continue;
      await store.write(operations);
      operations = [];
    }
    if (operations.length > 0) await store.write(operations);
  }

  async #record({ account, id }: Policy, action: string, by: string, operations: readonly Operation[]): Promise<void> {
    const facts = { action, address: null, by, requestId: null, status: null, subject: id };
    await this.#options.auditLog.recordWith(account, [facts], operations);
  }

  #remember(policy: Policy): void {
    const own = this.#byAccount.get(policy.account) ?? new Map<PolicyId, Policy>();
    this.#byAccount.set(policy.account, own.set(policy.id, policy));
  }

  #forget({ account, id }: Policy): void {
    const own = this.#byAccount.get(account);
    own?.delete(id);
    if (own?.size === 0) this.#byAccount.delete(account);
  }
}

/** As many as the strictest of them asks for. */
export function personsOf(policies: readonly Policy[]): number {
  return Math.max(...policies.map(({ persons }) => persons));
}
